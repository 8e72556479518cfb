#include "bundle.h"
#include "weights.h"

/* Commands after which what was recorded is run, so that long loops need no more and more memory. */
enum { MOST_RECORDED = 4096 };

/* One buffer that lives as long as the program, and is replaced by a larger one when it must. */
struct slot {
    ingot_buffer buffer;
    uint64_t size; /* that it has */
    uint64_t used; /* of the call that runs */
};

struct ingot_program {
    const struct ingot_bundle *bundle;
    struct ingot_device device;
    uint32_t variant;
    uint32_t kernels, constants, parameters, widest;
    ingot_pipeline *pipelines;
    struct slot *constant_slots;
    struct slot *parameter_slots; /* of the function that is called: arguments, then results */
    struct slot arena;
    struct ingot_range *bindings; /* of the dispatch that is recorded */
};

/* One call. */
struct run {
    struct ingot_program *program;
    struct view view;
    struct table function, body;
    uint32_t arguments, results;
    int64_t *registers;
    uint32_t register_count;
    uint32_t recorded; /* commands since the last submission */
    struct ingot_error *error;
};

/* Loading */

static bool same_text(struct ingot_text text, const char *other) {
    return text.size == strlen(other) && !memcmp(text.data, other, text.size);
}

static bool has_features(struct table variant, const struct ingot_device *device) {
    struct vector features = table_vector(variant, VARIANT_REQUIRED_FEATURES, 4, 4);
    for (uint32_t i = 0; i < features.count; i++)
        if (!device->has_feature || !device->has_feature(device->context, vector_text(features, i))) return false;
    return true;
}

/* The variant of the highest family that the device has, among equals one for its SIMD width. */
static int select_variant(const struct ingot_bundle *bundle, const struct ingot_device *device) {
    int best = -1;
    uint64_t best_rank = 0;
    struct view view = bundle_view(bundle);
    struct vector variants = bundle_variants(&view);
    for (uint32_t i = 0; i < variants.count; i++) {
        struct table variant = vector_table(variants, i);
        uint32_t family = table_u32(variant, VARIANT_FAMILY), width = table_u32(variant, VARIANT_SIMD_WIDTH);
        if (!same_text(table_text(variant, VARIANT_API), device->api)) continue;
        if (family > device->family || (width && width != device->simd_width)) continue;
        if (!has_features(variant, device)) continue;
        uint64_t rank = 1 + 2 * (uint64_t)family + (width != 0);
        if (rank > best_rank) best = (int)i, best_rank = rank;
    }
    return best;
}

/* The metallib of a kernel for the device's platform; empty when there is none. */
static struct ingot_bytes metallib_of(struct table kernel, const struct ingot_device *device) {
    struct vector libraries = table_vector(kernel, KERNEL_METALLIBS, 4, 4);
    for (uint32_t i = 0; device->platform && i < libraries.count; i++) {
        struct table library = vector_table(libraries, i);
        if (same_text(table_text(library, METALLIB_PLATFORM), device->platform))
            return table_bytes(library, METALLIB_DATA);
    }
    return (struct ingot_bytes){0};
}

static struct ingot_kernel kernel_of(struct table variant, struct table kernel, const struct ingot_device *device) {
    struct ingot_kernel found = {0};
    uint32_t version[3];
    table_extent(variant, VARIANT_MSL_VERSION, version);
    memcpy(found.msl_version, version, sizeof found.msl_version);
    found.math_mode = table_text(variant, VARIANT_MATH_MODE);
    found.name = table_text(kernel, KERNEL_NAME);
    found.entry_point = table_text(kernel, KERNEL_ENTRY_POINT);
    found.spirv_entry_point = table_text(kernel, KERNEL_SPIRV_ENTRY_POINT);
    found.msl = table_text(kernel, KERNEL_MSL);
    found.spirv = table_bytes(kernel, KERNEL_SPIRV);
    found.metallib = metallib_of(kernel, device);
    table_extent(kernel, KERNEL_THREADGROUP_SIZE, found.threadgroup_size);
    found.bindings = table_vector(kernel, KERNEL_BINDINGS, 4, 4).count;
    found.push_constant_size = table_u32(kernel, KERNEL_PUSH_CONSTANT_SIZE);
    found.uses_argument_buffer = table_u8(kernel, KERNEL_ARGUMENT_BUFFER);
    return found;
}

/* A buffer of at least `size` bytes in the slot; its contents are lost when it grows. */
static int reserve(struct ingot_program *program, struct slot *slot, uint64_t size, struct ingot_error *error) {
    const struct ingot_device *device = &program->device;
    slot->used = size;
    if (slot->buffer && slot->size >= size) return 0;
    if (slot->buffer) device->release(device->context, slot->buffer);
    slot->buffer = NULL;
    uint64_t bytes = size < 16 ? 16 : size; /* no device has empty buffers */
    if (device->allocate(device->context, bytes, &slot->buffer, error)) {
        slot->buffer = NULL;
        return 1;
    }
    slot->size = bytes;
    return 0;
}

/* calloc that never returns NULL for nothing. */
static void *zeros(uint64_t count, size_t size) { return calloc((size_t)(count ? count : 1), size); }

/* Copies the constants to the device; `data` has those that are not in the bundle itself. */
static int upload_constants(struct ingot_program *program, const uint8_t **data, struct ingot_error *error) {
    const struct ingot_bundle *bundle = program->bundle;
    struct view view = bundle_view(bundle);
    struct vector constants = bundle_constants(&view);
    for (uint32_t i = 0; i < constants.count; i++) {
        view.budget = UINT64_MAX;
        struct table constant = vector_table(constants, i);
        struct ingot_type type = tensor_type(table_table(constant, CONSTANT_TYPE, ""));
        uint64_t size = ingot_byte_size(&type);
        if (!data[i]) {
            uint64_t offset = table_u64(table_table(constant, CONSTANT_DATA, ""), FILE_DATA_OFFSET);
            data[i] = bundle->data + bundle->constants + offset;
        }
        struct slot *slot = &program->constant_slots[i];
        if (reserve(program, slot, size, error)) return 1;
        if (size) memcpy(program->device.contents(program->device.context, slot->buffer), data[i], (size_t)size);
    }
    return 0;
}

static int load_constants(struct ingot_program *program, struct ingot_error *error) {
    const uint8_t **data = zeros(program->constants, sizeof *data);
    if (!data) return ingot_fail(error, "out of memory");
    int status = weights_find(program->bundle, data, error) || upload_constants(program, data, error);
    free(data);
    return status;
}

static int load_pipelines(struct ingot_program *program, struct ingot_error *error) {
    struct view view = bundle_view(program->bundle);
    struct table variant = vector_table(bundle_variants(&view), program->variant);
    struct vector kernels = variant_kernels(variant);
    for (uint32_t i = 0; i < kernels.count; i++) {
        struct ingot_kernel kernel = kernel_of(variant, vector_table(kernels, i), &program->device);
        if (view.wrong) return ingot_fail(error, "%s", view.wrong);
        if (kernel.bindings > program->widest) program->widest = kernel.bindings;
        if (program->device.pipeline(program->device.context, &kernel, &program->pipelines[i], error)) return 1;
    }
    return 0;
}

struct ingot_program *ingot_load(const struct ingot_bundle *bundle, const struct ingot_device *device,
                                 struct ingot_error *error) {
    int variant = select_variant(bundle, device);
    if (variant < 0) {
        ingot_fail(error, "no variant of the bundle runs on this %s device", device->api);
        return NULL;
    }
    struct ingot_program *program = zeros(1, sizeof *program);
    if (!program) {
        ingot_fail(error, "out of memory");
        return NULL;
    }
    program->bundle = bundle;
    program->device = *device;
    program->variant = (uint32_t)variant;
    struct view view = bundle_view(bundle);
    program->constants = bundle_constants(&view).count;
    program->kernels = variant_kernels(vector_table(bundle_variants(&view), program->variant)).count;
    for (uint32_t i = 0; i < bundle->functions; i++) {
        uint32_t count = ingot_argument_count(bundle, i) + ingot_result_count(bundle, i);
        if (count > program->parameters) program->parameters = count;
    }
    program->pipelines = zeros(program->kernels, sizeof *program->pipelines);
    program->constant_slots = zeros(program->constants, sizeof *program->constant_slots);
    program->parameter_slots = zeros(program->parameters, sizeof *program->parameter_slots);
    bool failed = !program->pipelines || !program->constant_slots || !program->parameter_slots;
    if (failed) ingot_fail(error, "out of memory");
    failed = failed || load_constants(program, error) || load_pipelines(program, error);
    if (!failed && !(program->bindings = zeros(program->widest, sizeof *program->bindings)))
        failed = ingot_fail(error, "out of memory");
    if (!failed) return program;
    ingot_unload(program);
    return NULL;
}

static void release(struct ingot_program *program, struct slot *slots, uint32_t count) {
    for (uint32_t i = 0; slots && i < count; i++)
        if (slots[i].buffer) program->device.release(program->device.context, slots[i].buffer);
}

void ingot_unload(struct ingot_program *program) {
    if (!program) return;
    for (uint32_t i = 0; program->pipelines && i < program->kernels; i++)
        if (program->pipelines[i]) program->device.release_pipeline(program->device.context, program->pipelines[i]);
    release(program, program->constant_slots, program->constants);
    release(program, program->parameter_slots, program->parameters);
    release(program, &program->arena, 1);
    free(program->pipelines);
    free(program->constant_slots);
    free(program->parameter_slots);
    free(program->bindings);
    free(program);
}

/* Setup: what the host computes from the sizes of the arguments */

static int64_t value_of(const struct run *run, struct operand operand) {
    return operand.is_register ? run->registers[operand.value] : operand.value;
}

static int64_t floor_quotient(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t compute(uint8_t operation, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (operation) {
    case OPERATION_ADD: return (int64_t)(x + y);
    case OPERATION_SUBTRACT: return (int64_t)(x - y);
    case OPERATION_MULTIPLY: return (int64_t)(x * y);
    case OPERATION_DIVIDE: return floor_quotient(a, b);
    case OPERATION_REMAINDER: return b == 0 ? 0 : (int64_t)(x - (uint64_t)floor_quotient(a, b) * y);
    case OPERATION_MINIMUM: return a < b ? a : b;
    case OPERATION_MAXIMUM: return a > b ? a : b;
    case OPERATION_EQUAL: return a == b;
    default: return a < b;
    }
}

static int set_up(struct run *run, const struct ingot_array *arguments) {
    struct vector steps = steps_of(run->body, FUNCTION_BODY_SETUP);
    for (uint32_t i = 0; i < steps.count; i++) {
        uint8_t kind;
        struct table command = step_command(steps, i, &kind);
        if (kind == COMMAND_SIZE) {
            const struct ingot_array *argument = &arguments[table_u32(command, SIZE_ARGUMENT)];
            run->registers[table_u32(command, SIZE_TARGET)] = argument->type.shape[table_u32(command, SIZE_DIMENSION)];
        } else if (kind == COMMAND_COMPUTE) {
            int64_t a = value_of(run, table_operand(command, COMPUTE_LHS));
            int64_t b = value_of(run, table_operand(command, COMPUTE_RHS));
            run->registers[table_u32(command, COMPUTE_TARGET)] = compute(table_u8(command, COMPUTE_OPERATION), a, b);
        } else if (!value_of(run, table_operand(command, CHECK_CONDITION))) {
            struct ingot_text message = table_text(command, CHECK_MESSAGE);
            return ingot_fail(run->error, "%.200s", message.size ? message.data : "the arguments have sizes that do not fit");
        }
    }
    return 0;
}

/* Running commands */

static int resolve(struct run *run, struct reference reference, struct ingot_range *range) {
    struct ingot_program *program = run->program;
    int64_t offset = value_of(run, reference.offset), length = value_of(run, reference.length);
    const struct slot *slot = &program->arena;
    if (reference.kind == KIND_ARGUMENT) slot = &program->parameter_slots[reference.index];
    if (reference.kind == KIND_RESULT) slot = &program->parameter_slots[run->arguments + reference.index];
    if (reference.kind == KIND_CONSTANT) slot = &program->constant_slots[reference.index];
    if (offset < 0 || length < 0 || (uint64_t)offset > slot->used || (uint64_t)length > slot->used - (uint64_t)offset)
        return ingot_fail(run->error, "the bundle is damaged: a command reaches outside its buffer");
    *range = (struct ingot_range){slot->buffer, (uint64_t)offset, (uint64_t)length};
    return 0;
}

static int run_dispatch(struct run *run, struct table command) {
    struct ingot_program *program = run->program;
    struct operand grid[3];
    uint32_t groups[3];
    table_grid(command, DISPATCH_GROUPS, grid);
    for (int i = 0; i < 3; i++) {
        int64_t count = value_of(run, grid[i]);
        if (count < 0 || count > UINT32_MAX)
            return ingot_fail(run->error, "the bundle is damaged: a dispatch has an impossible grid");
        if (count == 0) return 0;
        groups[i] = (uint32_t)count;
    }
    struct vector bindings = dispatch_bindings(command);
    for (uint32_t i = 0; i < bindings.count; i++)
        if (resolve(run, vector_reference(bindings, i), &program->bindings[i])) return 1;
    return program->device.dispatch(program->device.context, program->pipelines[table_u32(command, DISPATCH_KERNEL)],
                                    groups, program->bindings, bindings.count,
                                    table_bytes(command, DISPATCH_PUSH_CONSTANTS), run->error);
}

static int run_fill(struct run *run, struct reference target, struct ingot_bytes pattern) {
    struct ingot_range range;
    if (resolve(run, target, &range)) return 1;
    if (range.length == 0) return 0;
    return run->program->device.fill(run->program->device.context, range, pattern, run->error);
}

static int run_copy(struct run *run, struct table command) {
    struct reference source, target;
    struct ingot_range from, to;
    table_reference(command, COPY_SOURCE, &source);
    table_reference(command, COPY_TARGET, &target);
    if (resolve(run, source, &from) || resolve(run, target, &to)) return 1;
    if (from.length != to.length)
        return ingot_fail(run->error, "the bundle is damaged: a copy has sides of different length");
    if (from.length == 0) return 0;
    return run->program->device.copy(run->program->device.context, from, to, run->error);
}

static int run_store(struct run *run, struct table command) {
    struct reference target;
    table_reference(command, STORE_TARGET, &target);
    uint64_t value = (uint64_t)value_of(run, table_operand(command, STORE_VALUE));
    uint8_t word[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    return run_fill(run, target, (struct ingot_bytes){word, sizeof word});
}

static int submit(struct run *run) {
    run->recorded = 0;
    return run->program->device.submit(run->program->device.context, run->error);
}

static int barrier(struct run *run) {
    return run->program->device.barrier(run->program->device.context, run->error);
}

static int run_load(struct run *run, struct table command) {
    const struct ingot_device *device = &run->program->device;
    struct reference source;
    struct ingot_range range;
    table_reference(command, LOAD_SOURCE, &source);
    if (resolve(run, source, &range) || barrier(run) || submit(run)) return 1;
    const uint8_t *bytes = (const uint8_t *)device->contents(device->context, range.buffer) + range.offset;
    uint64_t value = 0;
    for (uint64_t i = range.length; i-- > 0;) value = value << 8 | bytes[i];
    run->registers[table_u32(command, LOAD_TARGET)] = (int64_t)value;
    return 0;
}

static int run_steps(struct run *run, struct vector steps);

/* A list that everything before is finished for, as control flow has it. */
static int run_list(struct run *run, struct table command, int field) {
    if (run->recorded >= MOST_RECORDED && submit(run)) return 1;
    run->recorded++;
    return barrier(run) || run_steps(run, steps_of(command, field));
}

static int run_loop(struct run *run, struct table command) {
    int64_t count = value_of(run, table_operand(command, LOOP_COUNT));
    for (int64_t i = 0; i < count; i++)
        if (run_list(run, command, LOOP_BODY)) return 1;
    return barrier(run);
}

static int run_while(struct run *run, struct table command) {
    for (;;) {
        if (run_list(run, command, WHILE_CONDITION)) return 1;
        if (!value_of(run, table_operand(command, WHILE_PROCEED))) return barrier(run);
        if (run_list(run, command, WHILE_BODY)) return 1;
    }
}

static int run_command(struct run *run, struct table command, uint8_t kind) {
    struct reference target;
    switch (kind) {
    case COMMAND_DISPATCH: return run_dispatch(run, command);
    case COMMAND_FILL:
        table_reference(command, FILL_TARGET, &target);
        return run_fill(run, target, table_bytes(command, FILL_PATTERN));
    case COMMAND_COPY: return run_copy(run, command);
    case COMMAND_BARRIER: return barrier(run);
    case COMMAND_LOAD: return run_load(run, command);
    case COMMAND_STORE: return run_store(run, command);
    case COMMAND_LOOP: return run_loop(run, command);
    case COMMAND_WHILE: return run_while(run, command);
    default: {
        bool holds = value_of(run, table_operand(command, IF_CONDITION)) != 0;
        return run_list(run, command, holds ? IF_THEN : IF_OTHERWISE) || barrier(run);
    }
    }
}

static int run_steps(struct run *run, struct vector steps) {
    for (uint32_t i = 0; i < steps.count; i++) {
        /* A loop may visit a step any number of times; what the bundle holds was checked. */
        run->view.budget = UINT64_MAX;
        uint8_t kind;
        struct table command = step_command(steps, i, &kind);
        run->recorded++;
        if (run_command(run, command, kind)) return 1;
        if (run->view.wrong) return ingot_fail(run->error, "%s", run->view.wrong);
    }
    return 0;
}

/* Calls */

static int check_arguments(struct run *run, const struct ingot_array *arguments) {
    struct vector declared = function_arguments(run->function);
    for (uint32_t i = 0; i < run->arguments; i++) {
        struct ingot_type wanted = parameter_type(declared, i);
        const struct ingot_type *given = &arguments[i].type;
        bool fits = given->dtype == wanted.dtype && given->rank == wanted.rank;
        for (uint32_t k = 0; fits && k < wanted.rank; k++)
            fits = given->shape[k] >= 0 && (wanted.shape[k] < 0 || given->shape[k] == wanted.shape[k]);
        if (!fits) return ingot_fail(run->error, "argument %" PRIu32 " has another type than the function takes", i);
        uint64_t size = ingot_byte_size(given);
        if (size > arguments[i].capacity || (size && !arguments[i].data))
            return ingot_fail(run->error, "argument %" PRIu32 " needs %" PRIu64 " bytes", i, size);
    }
    return 0;
}

static int complete_results(struct run *run, struct ingot_array *results) {
    struct vector declared = function_results(run->function);
    struct vector sizes = table_vector(run->body, FUNCTION_BODY_RESULT_SIZES, OPERAND_SIZE, 8);
    uint32_t next = 0;
    for (uint32_t i = 0; i < run->results; i++) {
        struct ingot_type type = parameter_type(declared, i);
        for (uint32_t k = 0; k < type.rank; k++)
            if (type.shape[k] < 0) type.shape[k] = value_of(run, vector_operand(sizes, next++));
        uint64_t size = ingot_byte_size(&type);
        if (size > INT64_MAX) return ingot_fail(run->error, "result %" PRIu32 " would have an impossible size", i);
        if (size > results[i].capacity || (size && !results[i].data))
            return ingot_fail(run->error, "result %" PRIu32 " needs %" PRIu64 " bytes", i, size);
        results[i].type = type;
    }
    return 0;
}

static int prepare_buffers(struct run *run, const struct ingot_array *arguments, const struct ingot_array *results) {
    struct ingot_program *program = run->program;
    const struct ingot_device *device = &program->device;
    int64_t computed = value_of(run, table_operand(run->body, FUNCTION_BODY_TRANSIENT));
    uint64_t arena = computed > 0 ? (uint64_t)computed : table_u64(run->body, FUNCTION_BODY_TRANSIENT_SIZE);
    if (reserve(program, &program->arena, arena, run->error)) return 1;
    for (uint32_t i = 0; i < run->arguments + run->results; i++) {
        bool is_argument = i < run->arguments;
        const struct ingot_array *array = is_argument ? &arguments[i] : &results[i - run->arguments];
        uint64_t size = ingot_byte_size(&array->type);
        struct slot *slot = &program->parameter_slots[i];
        if (reserve(program, slot, size, run->error)) return 1;
        if (is_argument && size) memcpy(device->contents(device->context, slot->buffer), array->data, (size_t)size);
    }
    return 0;
}

int ingot_call(struct ingot_program *program, int function, const struct ingot_array *arguments,
               struct ingot_array *results, struct ingot_error *error) {
    const struct ingot_device *device = &program->device;
    if (function < 0 || (uint32_t)function >= program->bundle->functions)
        return ingot_fail(error, "the bundle has no such function");
    struct run run = {.program = program, .view = bundle_view(program->bundle), .error = error};
    run.function = vector_table(bundle_functions(&run.view), (uint32_t)function);
    struct table variant = vector_table(bundle_variants(&run.view), program->variant);
    run.body = vector_table(variant_bodies(variant), (uint32_t)function);
    run.arguments = function_arguments(run.function).count;
    run.results = function_results(run.function).count;
    run.register_count = table_u32(run.body, FUNCTION_BODY_REGISTERS);
    run.view.budget = UINT64_MAX;
    if (!(run.registers = zeros(run.register_count, sizeof *run.registers))) return ingot_fail(error, "out of memory");
    int status = check_arguments(&run, arguments) || set_up(&run, arguments) || complete_results(&run, results) ||
                 prepare_buffers(&run, arguments, results) ||
                 run_steps(&run, steps_of(run.body, FUNCTION_BODY_STEPS)) || submit(&run);
    if (status) device->discard(device->context);
    for (uint32_t i = 0; !status && i < run.results; i++) {
        ingot_buffer buffer = program->parameter_slots[run.arguments + i].buffer;
        uint64_t size = ingot_byte_size(&results[i].type);
        if (size) memcpy(results[i].data, device->contents(device->context, buffer), (size_t)size);
    }
    free(run.registers);
    return status;
}
