#include "bundle.h"

#include <stdarg.h>

int ingot_fail(struct ingot_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    /* Names in a sentence come from the file: no controls for the terminal that shows it. */
    for (char *c = error->message; *c; c++)
        if ((uint8_t)*c < 0x20 || *c == 0x7f) *c = '?';
    return 1;
}

/* Places */

struct view bundle_view(const struct ingot_bundle *bundle) {
    struct view view = {bundle->data, bundle->size, 0, NULL};
    if (view.size > INT32_MAX) view.size = INT32_MAX; /* the limit of 32-bit offsets */
    return view;
}

static struct vector tables(struct table owner, int field) { return table_vector(owner, field, 4, 4); }

struct vector bundle_functions(struct view *view) { return tables(view_root(view), BUNDLE_FUNCTIONS); }
struct vector bundle_constants(struct view *view) { return tables(view_root(view), BUNDLE_CONSTANTS); }
struct vector bundle_variants(struct view *view) { return tables(view_root(view), BUNDLE_VARIANTS); }
struct vector function_arguments(struct table function) { return tables(function, FUNCTION_ARGUMENTS); }
struct vector function_results(struct table function) { return tables(function, FUNCTION_RESULTS); }
struct vector variant_kernels(struct table variant) { return tables(variant, VARIANT_KERNELS); }
struct vector variant_bodies(struct table variant) { return tables(variant, VARIANT_BODIES); }
struct vector steps_of(struct table owner, int field) { return tables(owner, field); }

struct vector dispatch_bindings(struct table dispatch) {
    return table_vector(dispatch, DISPATCH_BINDINGS, REFERENCE_SIZE, 8);
}

struct table step_command(struct vector steps, uint32_t index, uint8_t *kind) {
    struct table step = vector_table(steps, index);
    *kind = table_u8(step, STEP_COMMAND_TYPE);
    return table_table(step, STEP_COMMAND, "the bundle is damaged: a step without a command");
}

struct ingot_type tensor_type(struct table type) {
    struct ingot_type found = {(enum ingot_dtype)table_u8(type, TENSOR_TYPE_DTYPE), 0, {0}};
    struct vector shape = table_vector(type, TENSOR_TYPE_SHAPE, 8, 8);
    if ((int)found.dtype >= DTYPES) {
        view_fail(type.view, "the bundle has an unknown element type");
        found.dtype = INGOT_I1;
    }
    if (shape.count > INGOT_MAX_RANK) {
        view_fail(type.view, "the bundle has a tensor of more dimensions than this library takes");
        return found;
    }
    for (uint32_t i = 0; i < shape.count; i++) found.shape[i] = vector_i64(shape, i);
    found.rank = shape.count;
    return found;
}

struct ingot_type parameter_type(struct vector parameters, uint32_t position) {
    struct table type = table_table(vector_table(parameters, position), PARAMETER_TYPE,
                                    "the bundle is damaged: a parameter without a type");
    struct ingot_type none = {INGOT_I1, 0, {0}};
    return type.view ? tensor_type(type) : none;
}

uint64_t ingot_byte_size(const struct ingot_type *type) {
    static const uint8_t bits[DTYPES] = {8, 4, 8, 16, 32, 64, 16, 16, 32, 64, 8, 16, 32, 64};
    uint64_t count = 1;
    if (type->rank > INGOT_MAX_RANK) return UINT64_MAX;
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t size = type->shape[i];
        if (size < 0) return UINT64_MAX;
        if (size == 0) return 0;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        uint64_t size = (uint64_t)type->shape[i];
        if (count > (UINT64_MAX >> 8) / size) return UINT64_MAX;
        count *= size;
    }
    return (count * bits[type->dtype] + 7) / 8;
}

/* Checks: after them every index, range and count of the bundle may be trusted. */

struct body {
    struct view *view;
    struct table function, body;
    struct vector kernels, constants;
    uint32_t registers;
    uint8_t loaded[MAX_REGISTERS / 8]; /* registers whose values come from the device */
};

static void require(struct view *view, bool holds, const char *sentence) {
    if (!holds) view_fail(view, sentence);
}

/* A text that is shown: without controls, which terminals would obey. */
static struct ingot_text shown(struct view *view, struct ingot_text text) {
    for (uint32_t i = 0; i < text.size; i++) {
        uint8_t first = (uint8_t)text.data[i], second = (uint8_t)text.data[i + 1]; /* a zero at the end */
        if (first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0))
            view_fail(view, "a name in the bundle has control characters");
    }
    return text;
}

static struct ingot_text label(struct table table, int field) { return shown(table.view, table_text(table, field)); }

static void check_type(struct view *view, struct ingot_type type, bool is_static) {
    bool open = false;
    for (uint32_t i = 0; i < type.rank; i++) {
        require(view, type.shape[i] >= -1, "the bundle has a tensor with a negative size");
        open = open || type.shape[i] < 0;
    }
    if (is_static) require(view, !open, "a constant of the bundle has an open size");
    if (!open)
        require(view, ingot_byte_size(&type) <= INT64_MAX, "the bundle has a tensor that is too large");
}

static void check_operand(struct body *body, struct operand operand) {
    if (operand.is_register)
        require(body->view, operand.value >= 0 && operand.value < (int64_t)body->registers,
                "a function of the bundle uses a register that it does not have");
}

static void check_known(struct body *body, struct operand operand) {
    check_operand(body, operand);
    if (operand.is_register && !body->view->wrong)
        require(body->view, !(body->loaded[operand.value / 8] >> (operand.value % 8) & 1),
                "a command of the bundle depends on a register that is loaded from the device");
}

/* The size of a buffer; UINT64_MAX where only a call knows it. */
static uint64_t buffer_size(struct body *body, struct reference reference, bool *exists) {
    struct vector list = {body->view, 0, 1};
    if (reference.kind == KIND_ARGUMENT) list = function_arguments(body->function);
    if (reference.kind == KIND_RESULT) list = function_results(body->function);
    if (reference.kind == KIND_CONSTANT) list = body->constants;
    *exists = reference.index < list.count;
    if (!*exists) return 0;
    if (reference.kind == KIND_TRANSIENT) {
        if (table_operand(body->body, FUNCTION_BODY_TRANSIENT).is_register) return UINT64_MAX;
        return table_u64(body->body, FUNCTION_BODY_TRANSIENT_SIZE);
    }
    struct ingot_type type = {INGOT_I1, 0, {0}};
    if (reference.kind == KIND_CONSTANT) {
        struct table found = table_table(vector_table(list, reference.index), CONSTANT_TYPE,
                                         "the bundle is damaged: a constant without a type");
        if (found.view) type = tensor_type(found);
    } else {
        type = parameter_type(list, reference.index);
    }
    return ingot_byte_size(&type);
}

static void check_reference(struct body *body, struct reference reference, bool written) {
    struct view *view = body->view;
    bool exists;
    uint64_t size = buffer_size(body, reference, &exists);
    require(view, exists, "a command of the bundle uses a buffer that is not there");
    require(view, !written || reference.kind == KIND_RESULT || reference.kind == KIND_TRANSIENT,
            "a command of the bundle writes to an argument or a constant");
    check_known(body, reference.offset);
    check_known(body, reference.length);
    if (reference.offset.is_register || reference.length.is_register) return;
    int64_t offset = reference.offset.value, length = reference.length.value;
    require(view, offset >= 0 && length >= 0, "a command of the bundle uses a negative range");
    require(view, size == UINT64_MAX || ((uint64_t)offset <= size && (uint64_t)length <= size - (uint64_t)offset),
            "a command of the bundle reaches outside its buffer");
}

static void check_dispatch(struct body *body, struct table dispatch) {
    struct view *view = body->view;
    struct operand grid[3];
    require(view, table_grid(dispatch, DISPATCH_GROUPS, grid), "a dispatch of the bundle has no grid");
    for (int i = 0; i < 3; i++) {
        check_known(body, grid[i]);
        if (!grid[i].is_register)
            require(view, grid[i].value >= 0 && grid[i].value <= UINT32_MAX,
                    "a dispatch of the bundle has an impossible grid");
    }
    uint32_t number = table_u32(dispatch, DISPATCH_KERNEL);
    require(view, number < body->kernels.count, "a dispatch of the bundle runs a kernel that is not there");
    struct table kernel = vector_table(body->kernels, number);
    struct vector parameters = table_vector(kernel, KERNEL_BINDINGS, 4, 4);
    struct vector bindings = dispatch_bindings(dispatch);
    require(view, bindings.count == parameters.count, "a dispatch of the bundle binds too many or too few buffers");
    require(view,
            table_bytes(dispatch, DISPATCH_PUSH_CONSTANTS).size == table_u32(kernel, KERNEL_PUSH_CONSTANT_SIZE),
            "a dispatch of the bundle gives push constants of another size");
    for (uint32_t i = 0; i < bindings.count && !view->wrong; i++) {
        uint8_t access = table_u8(vector_table(parameters, i), BINDING_ACCESS);
        check_reference(body, vector_reference(bindings, i), access != ACCESS_READ);
    }
}

static bool overlap(struct reference a, struct reference b) {
    if (a.kind != b.kind || a.index != b.index) return false;
    if (a.offset.is_register || a.length.is_register || b.offset.is_register || b.length.is_register) return false;
    /* Unsigned, since a range that the check above refused may have any numbers. */
    uint64_t first = (uint64_t)a.offset.value, second = (uint64_t)b.offset.value;
    return first < second + (uint64_t)b.length.value && second < first + (uint64_t)a.length.value;
}

static void check_steps(struct body *body, struct vector steps, int depth);

static void check_command(struct body *body, struct table command, uint8_t kind, int depth) {
    struct view *view = body->view;
    struct reference source = {{0, false}, {0, false}, 0, 0}, target = source;
    switch (kind) {
    case COMMAND_DISPATCH: check_dispatch(body, command); break;
    case COMMAND_FILL: {
        require(view, table_reference(command, FILL_TARGET, &target), "a fill of the bundle has no target");
        check_reference(body, target, true);
        uint64_t size = table_bytes(command, FILL_PATTERN).size;
        require(view, size == 1 || size == 2 || size == 4, "a fill of the bundle has no pattern of 1, 2 or 4 bytes");
        break;
    }
    case COMMAND_COPY: {
        bool both = table_reference(command, COPY_SOURCE, &source);
        both = table_reference(command, COPY_TARGET, &target) && both;
        require(view, both, "a copy of the bundle lacks a side");
        check_reference(body, source, false);
        check_reference(body, target, true);
        require(view,
                source.length.value == target.length.value && source.length.is_register == target.length.is_register,
                "a copy of the bundle has sides of different length");
        require(view, !overlap(source, target), "a copy of the bundle copies onto itself");
        break;
    }
    case COMMAND_BARRIER: break;
    case COMMAND_LOAD: {
        require(view, table_reference(command, LOAD_SOURCE, &source), "a load of the bundle has no source");
        check_operand(body, (struct operand){table_u32(command, LOAD_TARGET), true});
        check_reference(body, source, false);
        int64_t length = source.length.value;
        require(view, !source.length.is_register && (length == 1 || length == 4 || length == 8),
                "a load of the bundle is not of 1, 4 or 8 bytes");
        break;
    }
    case COMMAND_STORE:
        require(view, table_reference(command, STORE_TARGET, &target), "a store of the bundle has no target");
        check_known(body, table_operand(command, STORE_VALUE));
        check_reference(body, target, true);
        require(view, !target.length.is_register && target.length.value == 4,
                "a store of the bundle is not of 4 bytes");
        break;
    case COMMAND_LOOP:
        check_operand(body, table_operand(command, LOOP_COUNT));
        check_steps(body, steps_of(command, LOOP_BODY), depth + 1);
        break;
    case COMMAND_WHILE:
        check_operand(body, table_operand(command, WHILE_PROCEED));
        check_steps(body, steps_of(command, WHILE_CONDITION), depth + 1);
        check_steps(body, steps_of(command, WHILE_BODY), depth + 1);
        break;
    case COMMAND_IF:
        check_operand(body, table_operand(command, IF_CONDITION));
        check_steps(body, steps_of(command, IF_THEN), depth + 1);
        check_steps(body, steps_of(command, IF_OTHERWISE), depth + 1);
        break;
    default: view_fail(view, "the bundle has a command that this version does not know");
    }
}

static void check_steps(struct body *body, struct vector steps, int depth) {
    require(body->view, depth <= MAX_DEPTH, "the bundle nests control flow more than 32 deep");
    for (uint32_t i = 0; i < steps.count && !body->view->wrong; i++) {
        uint8_t kind;
        struct table command = step_command(steps, i, &kind);
        check_command(body, command, kind, depth);
    }
}

/* Marks the registers that loads fill; what else is wrong, the check that follows finds. */
static void mark_loaded(struct body *body, struct vector steps, int depth) {
    for (uint32_t i = 0; i < steps.count && depth <= MAX_DEPTH && !body->view->wrong; i++) {
        uint8_t kind;
        struct table command = step_command(steps, i, &kind);
        if (kind == COMMAND_LOAD) {
            uint32_t target = table_u32(command, LOAD_TARGET);
            if (target < MAX_REGISTERS) body->loaded[target / 8] |= (uint8_t)(1u << (target % 8));
        } else if (kind == COMMAND_LOOP) {
            mark_loaded(body, steps_of(command, LOOP_BODY), depth + 1);
        } else if (kind == COMMAND_WHILE) {
            mark_loaded(body, steps_of(command, WHILE_CONDITION), depth + 1);
            mark_loaded(body, steps_of(command, WHILE_BODY), depth + 1);
        } else if (kind == COMMAND_IF) {
            mark_loaded(body, steps_of(command, IF_THEN), depth + 1);
            mark_loaded(body, steps_of(command, IF_OTHERWISE), depth + 1);
        }
    }
}

static void check_setup(struct body *body, struct table command, uint8_t kind) {
    struct view *view = body->view;
    switch (kind) {
    case COMMAND_SIZE: {
        check_operand(body, (struct operand){table_u32(command, SIZE_TARGET), true});
        struct vector arguments = function_arguments(body->function);
        uint32_t argument = table_u32(command, SIZE_ARGUMENT);
        require(view, argument < arguments.count, "the setup of a function asks for an argument that is not there");
        if (view->wrong) break;
        require(view, table_u32(command, SIZE_DIMENSION) < parameter_type(arguments, argument).rank,
                "the setup of a function asks for a dimension that is not there");
        break;
    }
    case COMMAND_COMPUTE:
        check_operand(body, (struct operand){table_u32(command, COMPUTE_TARGET), true});
        check_operand(body, table_operand(command, COMPUTE_LHS));
        check_operand(body, table_operand(command, COMPUTE_RHS));
        require(view, table_u8(command, COMPUTE_OPERATION) < OPERATIONS,
                "the bundle has an operation that this version does not know");
        break;
    case COMMAND_CHECK:
        check_operand(body, table_operand(command, CHECK_CONDITION));
        label(command, CHECK_MESSAGE);
        break;
    default: view_fail(view, "the setup of a function has a command of another kind");
    }
}

static void check_body(struct body *body) {
    struct view *view = body->view;
    struct table table = body->body;
    struct operand transient = table_operand(table, FUNCTION_BODY_TRANSIENT);
    require(view, table_u64(table, FUNCTION_BODY_TRANSIENT_SIZE) <= INT64_MAX, "the arena of a function is too large");
    require(view, body->registers <= MAX_REGISTERS, "a function of the bundle has too many registers");
    require(view, transient.is_register || transient.value == 0, "the arena of a function has two sizes");
    if (view->wrong) return;
    check_operand(body, transient);
    struct vector setup = steps_of(table, FUNCTION_BODY_SETUP);
    for (uint32_t i = 0; i < setup.count && !view->wrong; i++) {
        uint8_t kind;
        struct table command = step_command(setup, i, &kind);
        check_setup(body, command, kind);
    }
    uint64_t open = 0;
    struct vector results = function_results(body->function);
    for (uint32_t i = 0; i < results.count && !view->wrong; i++) {
        struct ingot_type type = parameter_type(results, i);
        for (uint32_t k = 0; k < type.rank; k++) open += type.shape[k] < 0;
    }
    struct vector sizes = table_vector(table, FUNCTION_BODY_RESULT_SIZES, OPERAND_SIZE, 8);
    require(view, sizes.count == open, "a function gives too many or too few sizes of its results");
    for (uint32_t i = 0; i < sizes.count && !view->wrong; i++) check_operand(body, vector_operand(sizes, i));
    mark_loaded(body, steps_of(table, FUNCTION_BODY_STEPS), 0);
    check_steps(body, steps_of(table, FUNCTION_BODY_STEPS), 0);
}

static bool is_word(struct ingot_text text, const char *word) {
    return text.size == strlen(word) && !memcmp(text.data, word, text.size);
}

static void check_kernel(struct view *view, struct table kernel) {
    uint32_t size[3];
    label(kernel, KERNEL_ENTRY_POINT);
    label(kernel, KERNEL_LOCATION);
    label(kernel, KERNEL_SPIRV_ENTRY_POINT);
    table_text(kernel, KERNEL_MSL);
    struct vector libraries = table_vector(kernel, KERNEL_METALLIBS, 4, 4);
    for (uint32_t i = 0; i < libraries.count && !view->wrong; i++) {
        struct table library = vector_table(libraries, i);
        struct ingot_text platform = table_text(library, METALLIB_PLATFORM);
        require(view, platform.size && table_bytes(library, METALLIB_DATA).size,
                "a kernel of the bundle has a damaged metallib");
    }
    table_u32(kernel, KERNEL_PUSH_CONSTANT_SIZE);
    table_u64(kernel, KERNEL_THREADGROUP_MEMORY);
    require(view, table_u8(kernel, KERNEL_ARGUMENT_BUFFER) <= 1, "the bundle is damaged: neither true nor false");
    require(view, label(kernel, KERNEL_NAME).size > 0, "a kernel of the bundle has no name");
    require(view, table_extent(kernel, KERNEL_THREADGROUP_SIZE, size) && size[0] && size[1] && size[2],
            "a kernel of the bundle has no threadgroup size");
    struct ingot_bytes spirv = table_bytes(kernel, KERNEL_SPIRV);
    static const uint8_t magic[4] = {3, 2, 0x23, 7};
    if (spirv.size)
        require(view, spirv.size % 4 == 0 && spirv.size >= 20 && !memcmp(spirv.data, magic, 4),
                "a kernel of the bundle has damaged SPIR-V");
    struct vector bindings = table_vector(kernel, KERNEL_BINDINGS, 4, 4);
    for (uint32_t i = 0; i < bindings.count && !view->wrong; i++) {
        struct table binding = vector_table(bindings, i);
        label(binding, BINDING_NAME);
        require(view, table_u8(binding, BINDING_ACCESS) < ACCESSES && table_u8(binding, BINDING_DTYPE) < DTYPES,
                "a kernel of the bundle has a damaged binding");
    }
}

static void check_variant(struct view *view, struct table variant, struct vector functions,
                          struct vector constants, struct body *body) {
    struct vector kernels = variant_kernels(variant), bodies = variant_bodies(variant);
    require(view, label(variant, VARIANT_API).size > 0, "a variant of the bundle names no api");
    uint32_t version[3];
    table_extent(variant, VARIANT_MSL_VERSION, version);
    label(variant, VARIANT_TARGET);
    table_u32(variant, VARIANT_FAMILY);
    table_u32(variant, VARIANT_SIMD_WIDTH);
    struct ingot_text math = table_text(variant, VARIANT_MATH_MODE);
    require(view, is_word(math, "safe") || is_word(math, "fast") || is_word(math, "strict"),
            "a variant of the bundle has an unknown math mode");
    struct vector features = table_vector(variant, VARIANT_REQUIRED_FEATURES, 4, 4);
    for (uint32_t i = 0; i < features.count && !view->wrong; i++) shown(view, vector_text(features, i));
    for (uint32_t i = 0; i < kernels.count && !view->wrong; i++) check_kernel(view, vector_table(kernels, i));
    require(view, bodies.count == functions.count, "a variant of the bundle lacks a body of a function");
    for (uint32_t i = 0; i < bodies.count && !view->wrong; i++) {
        memset(body, 0, sizeof *body);
        body->view = view;
        body->function = vector_table(functions, i);
        body->body = vector_table(bodies, i);
        body->kernels = kernels;
        body->constants = constants;
        body->registers = table_u32(body->body, FUNCTION_BODY_REGISTERS);
        if (!view->wrong) check_body(body);
    }
}

static bool is_file_name(struct ingot_text text) {
    for (uint32_t i = 0; i < text.size; i++)
        if (!text.data[i] || strchr("/\\:", text.data[i])) return false;
    return text.size && !is_word(text, ".") && !is_word(text, "..");
}

/* A constant in the weights' file, which `weights.c` reads; all of them are in one. */
static void check_weight(struct view *view, struct table data, struct ingot_text *file) {
    struct ingot_text name = table_text(data, WEIGHT_DATA_FILE);
    require(view, is_file_name(name), "the weights of the bundle lie in a file without a name");
    require(view, table_text(data, WEIGHT_DATA_KEY).size > 0, "a weight of the bundle has no key");
    require(view, table_bytes(data, WEIGHT_DATA_DIGEST).size == 32, "a weight of the bundle has no hash");
    require(view, !file->size || (file->size == name.size && !memcmp(file->data, name.data, name.size)),
            "weights of the bundle lie in several files, which this library does not read");
    *file = name;
}

static void check_constant(struct view *view, struct table constant, uint64_t data_size, struct ingot_text *weights) {
    struct table found = table_table(constant, CONSTANT_TYPE, "the bundle is damaged: a constant without a type");
    if (view->wrong) return;
    struct ingot_type type = tensor_type(found);
    label(constant, CONSTANT_NAME);
    check_type(view, type, true);
    uint8_t kind = table_u8(constant, CONSTANT_DATA_TYPE);
    require(view, kind == DATA_FILE || kind == DATA_WEIGHT, "the bundle has constants of an unknown kind");
    struct table data = table_table(constant, CONSTANT_DATA, "the bundle is damaged: a constant without data");
    if (kind == DATA_WEIGHT) {
        check_weight(view, data, weights);
        return;
    }
    uint64_t offset = table_u64(data, FILE_DATA_OFFSET), length = table_u64(data, FILE_DATA_LENGTH);
    require(view, offset % 64 == 0 && offset <= data_size && length <= data_size - offset,
            "a constant of the bundle reaches outside the file");
    require(view, length == ingot_byte_size(&type), "a constant of the bundle has data of another size");
}

static void check_functions(struct view *view, struct vector functions) {
    for (uint32_t i = 0; i < functions.count && !view->wrong; i++) {
        struct table function = vector_table(functions, i);
        require(view, label(function, FUNCTION_NAME).size > 0, "a function of the bundle has no name");
        struct vector lists[2] = {function_arguments(function), function_results(function)};
        for (int k = 0; k < 2; k++)
            for (uint32_t p = 0; p < lists[k].count && !view->wrong; p++) {
                label(vector_table(lists[k], p), PARAMETER_NAME);
                check_type(view, parameter_type(lists[k], p), false);
            }
    }
}

int ingot_open(struct ingot_bundle *bundle, const void *data, size_t size, struct ingot_error *error) {
    memset(bundle, 0, sizeof *bundle);
    bundle->data = data;
    bundle->size = size;
    if (size < 8 || memcmp((const uint8_t *)data + 4, "INGT", 4)) return ingot_fail(error, "this is no Ingot bundle");
    if ((uintptr_t)data % 8) return ingot_fail(error, "the bundle is not aligned in memory");
    struct view view = bundle_view(bundle);
    struct table root = view_root(&view);
    uint16_t major = table_u16(root, BUNDLE_MAJOR);
    if (!view.wrong && major != MAJOR_VERSION)
        return ingot_fail(error, "the bundle has version %u.%u, and this library reads %u", major,
                          table_u16(root, BUNDLE_MINOR), MAJOR_VERSION);
    require(&view, table_u64(root, BUNDLE_FILE_SIZE) == size, "the bundle is cut off or has grown");
    uint64_t offset = table_u64(root, BUNDLE_DATA_OFFSET);
    require(&view, offset <= size && offset % 64 == 0, "the bundle is damaged: its data lies outside the file");
    if (view.wrong) return ingot_fail(error, "%s", view.wrong);
    /* The FlatBuffer ends where the data begins. */
    if (view.size > offset) view.size = (size_t)offset;
    struct vector functions = table_vector(root, BUNDLE_FUNCTIONS, 4, 4);
    struct vector constants = table_vector(root, BUNDLE_CONSTANTS, 4, 4);
    struct vector variants = table_vector(root, BUNDLE_VARIANTS, 4, 4);
    struct table provenance = table_table(root, BUNDLE_PROVENANCE, "the bundle is damaged: it has no provenance");
    for (int i = 0; i < PROVENANCE_TEXTS; i++) table_text(provenance, i);
    check_functions(&view, functions);
    struct ingot_text weights = {"", 0};
    for (uint32_t i = 0; i < constants.count && !view.wrong; i++)
        check_constant(&view, vector_table(constants, i), size - offset, &weights);
    require(&view, variants.count > 0, "the bundle has no variant for any target");
    struct body *body = view.wrong ? NULL : malloc(sizeof *body);
    if (!view.wrong && !body) return ingot_fail(error, "out of memory");
    for (uint32_t i = 0; i < variants.count && !view.wrong; i++)
        check_variant(&view, vector_table(variants, i), functions, constants, body);
    free(body);
    if (view.wrong) return ingot_fail(error, "%s", view.wrong);
    bundle->constants = offset;
    bundle->functions = functions.count;
    bundle->variants = variants.count;
    return 0;
}

/* Questions about a checked bundle */

struct ingot_text ingot_function_name(const struct ingot_bundle *bundle, uint32_t function) {
    struct view view = bundle_view(bundle);
    return table_text(vector_table(bundle_functions(&view), function), FUNCTION_NAME);
}

struct ingot_text ingot_weights_file(const struct ingot_bundle *bundle) {
    struct view view = bundle_view(bundle);
    struct vector constants = bundle_constants(&view);
    for (uint32_t i = 0; i < constants.count; i++) {
        struct table constant = vector_table(constants, i);
        if (table_u8(constant, CONSTANT_DATA_TYPE) == DATA_WEIGHT)
            return table_text(table_table(constant, CONSTANT_DATA, ""), WEIGHT_DATA_FILE);
    }
    return (struct ingot_text){"", 0};
}

int ingot_find(const struct ingot_bundle *bundle, const char *function) {
    for (uint32_t i = 0; i < bundle->functions; i++) {
        struct ingot_text name = ingot_function_name(bundle, i);
        if (name.size == strlen(function) && !memcmp(name.data, function, name.size)) return (int)i;
    }
    return -1;
}

uint32_t ingot_argument_count(const struct ingot_bundle *bundle, uint32_t function) {
    struct view view = bundle_view(bundle);
    return function_arguments(vector_table(bundle_functions(&view), function)).count;
}

uint32_t ingot_result_count(const struct ingot_bundle *bundle, uint32_t function) {
    struct view view = bundle_view(bundle);
    return function_results(vector_table(bundle_functions(&view), function)).count;
}

struct ingot_type ingot_argument_type(const struct ingot_bundle *bundle, uint32_t function, uint32_t position) {
    struct view view = bundle_view(bundle);
    return parameter_type(function_arguments(vector_table(bundle_functions(&view), function)), position);
}

struct ingot_type ingot_result_type(const struct ingot_bundle *bundle, uint32_t function, uint32_t position) {
    struct view view = bundle_view(bundle);
    return parameter_type(function_results(vector_table(bundle_functions(&view), function)), position);
}
