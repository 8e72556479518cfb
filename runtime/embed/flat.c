#include "flat.h"

#include <string.h>

/* Tables may be referred to from several places; all visits together cost at most this many bytes
 * for each byte of the file. */
enum { SHARING = 32 };

static const struct table nothing;

void view_fail(struct view *view, const char *sentence) {
    if (!view->wrong) view->wrong = sentence;
}

static bool claim(struct view *view, uint64_t position, uint64_t length, uint32_t alignment) {
    if (view->wrong) return false;
    if (position > view->size || length > view->size - position) {
        view_fail(view, "the bundle is damaged: a part reaches outside the file");
    } else if (position % alignment) {
        view_fail(view, "the bundle is damaged: a part is not aligned");
    } else if (length > view->budget) {
        view_fail(view, "the bundle is damaged: its parts refer to each other too often");
    } else {
        view->budget -= length;
        return true;
    }
    return false;
}

/* Integers of a position that was claimed; a bundle is little-endian, as is every Apple device. */
static uint16_t u16_at(const struct view *view, uint64_t position) {
    const uint8_t *p = view->data + position;
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t u32_at(const struct view *view, uint64_t position) {
    return u16_at(view, position) | (uint32_t)u16_at(view, position + 2) << 16;
}

static uint64_t u64_at(const struct view *view, uint64_t position) {
    return u32_at(view, position) | (uint64_t)u32_at(view, position + 4) << 32;
}

static uint32_t follow(struct view *view, uint64_t position) {
    if (!claim(view, position, 4, 4)) return 0;
    uint64_t offset = u32_at(view, position);
    if (offset < 4 || position + offset >= view->size) {
        view_fail(view, "the bundle is damaged: an offset points outside the file");
        return 0;
    }
    return (uint32_t)(position + offset);
}

static struct table table_at(struct view *view, uint32_t position) {
    struct table table = {view, position, 0, 0, 0};
    if (!claim(view, position, 4, 4)) return nothing;
    int64_t vtable = (int64_t)position - (int32_t)u32_at(view, position);
    if (vtable < 0 || vtable % 2 || (uint64_t)vtable + 4 > view->size) {
        view_fail(view, "the bundle is damaged: a vtable is outside the file");
        return nothing;
    }
    table.vtable = (uint32_t)vtable;
    table.vtable_size = u16_at(view, table.vtable);
    table.size = u16_at(view, table.vtable + 2);
    if (table.vtable_size < 4 || table.vtable_size % 2 || table.size < 4 ||
        (uint64_t)vtable + table.vtable_size > view->size) {
        view_fail(view, "the bundle is damaged: a vtable has an impossible size");
        return nothing;
    }
    return claim(view, position, table.size, 4) ? table : nothing;
}

struct table view_root(struct view *view) {
    view->budget = SHARING * (uint64_t)view->size;
    uint32_t position = follow(view, 0);
    return view->wrong ? nothing : table_at(view, position);
}

/* The position of an inline field of `size` bytes; 0 when it is absent. */
static uint32_t field_at(struct table table, int field, uint32_t size, uint32_t alignment) {
    uint32_t entry = 4 + 2 * (uint32_t)field;
    if (!table.view || table.view->wrong || entry + 2 > table.vtable_size) return 0;
    uint32_t offset = u16_at(table.view, table.vtable + entry);
    if (!offset) return 0;
    if (offset < 4 || offset + size > table.size) {
        view_fail(table.view, "the bundle is damaged: a field is outside its table");
        return 0;
    }
    if ((table.position + offset) % alignment) {
        view_fail(table.view, "the bundle is damaged: a field is not aligned");
        return 0;
    }
    return table.position + offset;
}

bool table_has(struct table table, int field) { return field_at(table, field, 1, 1) != 0; }

uint8_t table_u8(struct table table, int field) {
    uint32_t at = field_at(table, field, 1, 1);
    return at ? table.view->data[at] : 0;
}

uint16_t table_u16(struct table table, int field) {
    uint32_t at = field_at(table, field, 2, 2);
    return at ? u16_at(table.view, at) : 0;
}

uint32_t table_u32(struct table table, int field) {
    uint32_t at = field_at(table, field, 4, 4);
    return at ? u32_at(table.view, at) : 0;
}

uint64_t table_u64(struct table table, int field) {
    uint32_t at = field_at(table, field, 8, 8);
    return at ? u64_at(table.view, at) : 0;
}

static struct operand operand_at(struct view *view, uint32_t at) {
    uint8_t kind = view->data[at + 8];
    if (kind > 1) view_fail(view, "the bundle is damaged: an operand is of no kind");
    return (struct operand){(int64_t)u64_at(view, at), kind == 1};
}

struct operand table_operand(struct table table, int field) {
    uint32_t at = field_at(table, field, OPERAND_SIZE, 8);
    return at ? operand_at(table.view, at) : (struct operand){0, false};
}

bool table_extent(struct table table, int field, uint32_t extent[3]) {
    uint32_t at = field_at(table, field, EXTENT_SIZE, 4);
    for (int i = 0; i < 3; i++) extent[i] = at ? u32_at(table.view, at + 4 * (uint32_t)i) : 0;
    return at != 0;
}

bool table_grid(struct table table, int field, struct operand grid[3]) {
    uint32_t at = field_at(table, field, GRID_SIZE, 8);
    for (int i = 0; i < 3; i++)
        grid[i] = at ? operand_at(table.view, at + OPERAND_SIZE * (uint32_t)i) : (struct operand){0, false};
    return at != 0;
}

static struct reference reference_at(struct view *view, uint32_t at) {
    struct reference found = {operand_at(view, at), operand_at(view, at + OPERAND_SIZE),
                              u32_at(view, at + 2 * OPERAND_SIZE), view->data[at + 2 * OPERAND_SIZE + 4]};
    if (found.kind >= KINDS) view_fail(view, "the bundle is damaged: a buffer is of no kind");
    return found;
}

bool table_reference(struct table table, int field, struct reference *reference) {
    uint32_t at = field_at(table, field, REFERENCE_SIZE, 8);
    if (at) *reference = reference_at(table.view, at);
    else memset(reference, 0, sizeof *reference);
    return at != 0;
}

struct table table_table(struct table table, int field, const char *missing) {
    uint32_t at = field_at(table, field, 4, 4);
    if (!table.view || table.view->wrong) return nothing;
    if (!at) {
        view_fail(table.view, missing);
        return nothing;
    }
    uint32_t position = follow(table.view, at);
    return table.view->wrong ? nothing : table_at(table.view, position);
}

static struct vector vector_at(struct view *view, uint32_t position, uint32_t size, uint32_t alignment) {
    struct vector none = {view, 0, 0};
    if (!claim(view, position, 4, 4)) return none;
    uint32_t count = u32_at(view, position);
    if (!claim(view, (uint64_t)position + 4, (uint64_t)count * size, count ? alignment : 1)) return none;
    return (struct vector){view, position + 4, count};
}

struct vector table_vector(struct table table, int field, uint32_t size, uint32_t alignment) {
    struct vector none = {table.view, 0, 0};
    uint32_t at = field_at(table, field, 4, 4);
    if (!at) return none;
    uint32_t position = follow(table.view, at);
    return table.view->wrong ? none : vector_at(table.view, position, size, alignment);
}

struct ingot_bytes table_bytes(struct table table, int field) {
    struct vector found = table_vector(table, field, 1, 1);
    struct ingot_bytes none = {NULL, 0};
    if (!found.count) return none;
    return (struct ingot_bytes){found.view->data + found.position, found.count};
}

/* Whether the bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
static bool is_utf8(const uint8_t *text, uint32_t size) {
    for (uint32_t i = 0; i < size;) {
        uint8_t first = text[i++];
        if (first < 0x80) continue;
        int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first < 0xc2 || first > 0xf4 || (uint32_t)more > size - i) return false;
        uint8_t low = 0x80, high = 0xbf;
        if (first == 0xe0) low = 0xa0;
        if (first == 0xed) high = 0x9f;
        if (first == 0xf0) low = 0x90;
        if (first == 0xf4) high = 0x8f;
        if (text[i] < low || text[i] > high) return false;
        for (int k = 1; k < more; k++)
            if ((text[i + (uint32_t)k] & 0xc0) != 0x80) return false;
        i += (uint32_t)more;
    }
    return true;
}

static struct ingot_text text_at(struct view *view, uint32_t position) {
    struct ingot_text empty = {"", 0};
    struct vector found = vector_at(view, position, 1, 1);
    if (view->wrong) return empty;
    uint64_t end = (uint64_t)found.position + found.count;
    if (end >= view->size || view->data[end]) {
        view_fail(view, "the bundle is damaged: a text has no end");
        return empty;
    }
    if (!is_utf8(view->data + found.position, found.count)) {
        view_fail(view, "the bundle is damaged: a text is not UTF-8");
        return empty;
    }
    return (struct ingot_text){(const char *)view->data + found.position, found.count};
}

struct ingot_text table_text(struct table table, int field) {
    struct ingot_text empty = {"", 0};
    uint32_t at = field_at(table, field, 4, 4);
    if (!at) return empty;
    uint32_t position = follow(table.view, at);
    return table.view->wrong ? empty : text_at(table.view, position);
}

struct table vector_table(struct vector vector, uint32_t index) {
    if (!vector.view || vector.view->wrong || index >= vector.count) return nothing;
    uint32_t position = follow(vector.view, vector.position + 4 * (uint64_t)index);
    return vector.view->wrong ? nothing : table_at(vector.view, position);
}

struct ingot_text vector_text(struct vector vector, uint32_t index) {
    struct ingot_text empty = {"", 0};
    if (!vector.view || vector.view->wrong || index >= vector.count) return empty;
    uint32_t position = follow(vector.view, vector.position + 4 * (uint64_t)index);
    return vector.view->wrong ? empty : text_at(vector.view, position);
}

int64_t vector_i64(struct vector vector, uint32_t index) {
    if (vector.view->wrong || index >= vector.count) return 0;
    return (int64_t)u64_at(vector.view, vector.position + 8 * (uint64_t)index);
}

struct operand vector_operand(struct vector vector, uint32_t index) {
    if (vector.view->wrong || index >= vector.count) return (struct operand){0, false};
    return operand_at(vector.view, vector.position + OPERAND_SIZE * index);
}

struct reference vector_reference(struct vector vector, uint32_t index) {
    if (vector.view->wrong || index >= vector.count) return (struct reference){{0, false}, {0, false}, 0, 0};
    return reference_at(vector.view, vector.position + REFERENCE_SIZE * index);
}
