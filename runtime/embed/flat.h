/* Reading FlatBuffers that nobody has verified: every access checks first.
 *
 * A `view` remembers the first thing that was wrong; after it all reads give zeros, so that code can
 * read on and ask once. */
#ifndef INGOT_FLAT_H
#define INGOT_FLAT_H

#include "ingot.h"

#include <stdbool.h>

struct view {
    const uint8_t *data;
    size_t size;
    uint64_t budget;   /* bytes that may still be visited, where tables are shared */
    const char *wrong; /* NULL, or the sentence */
};

struct table {
    struct view *view;
    uint32_t position, vtable;
    uint16_t vtable_size, size;
};

struct vector {
    struct view *view;
    uint32_t position; /* of the first element */
    uint32_t count;
};

struct operand {
    int64_t value;
    bool is_register;
};

struct reference {
    struct operand offset, length;
    uint32_t index;
    uint8_t kind;
};

enum kind { KIND_ARGUMENT, KIND_RESULT, KIND_CONSTANT, KIND_TRANSIENT, KINDS };

void view_fail(struct view *view, const char *sentence);
struct table view_root(struct view *view);

bool table_has(struct table table, int field);
uint8_t table_u8(struct table table, int field);
uint16_t table_u16(struct table table, int field);
uint32_t table_u32(struct table table, int field);
uint64_t table_u64(struct table table, int field);
struct operand table_operand(struct table table, int field); /* absent: 0 */
bool table_extent(struct table table, int field, uint32_t extent[3]);
bool table_grid(struct table table, int field, struct operand grid[3]);
bool table_reference(struct table table, int field, struct reference *reference);
struct table table_table(struct table table, int field, const char *missing);
struct ingot_text table_text(struct table table, int field);
struct vector table_vector(struct table table, int field, uint32_t size, uint32_t alignment);
struct ingot_bytes table_bytes(struct table table, int field);

struct table vector_table(struct vector vector, uint32_t index);
struct ingot_text vector_text(struct vector vector, uint32_t index);
int64_t vector_i64(struct vector vector, uint32_t index);
struct operand vector_operand(struct vector vector, uint32_t index);
struct reference vector_reference(struct vector vector, uint32_t index);

enum { OPERAND_SIZE = 16, REFERENCE_SIZE = 40, GRID_SIZE = 48, EXTENT_SIZE = 12 };

#endif
