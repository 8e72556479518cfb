#include "weights.h"

/* SHA-256 (FIPS 180-4) */

struct sha256 {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t size;
};

static uint32_t rotated(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void hash_block(uint32_t state[8], const uint8_t *block) {
    static const uint32_t constants[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t e = rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25);
        uint32_t first = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
        uint32_t a = rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22);
        uint32_t second = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

static void sha256(const uint8_t *data, uint64_t size, uint8_t digest[32]) {
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint64_t whole = size / 64 * 64;
    for (uint64_t i = 0; i < whole; i += 64) hash_block(state, data + i);
    uint8_t tail[128] = {0};
    uint32_t rest = (uint32_t)(size - whole), end = rest < 56 ? 64 : 128;
    if (rest) memcpy(tail, data + whole, rest);
    tail[rest] = 0x80;
    for (uint32_t i = 0; i < 8; i++) tail[end - 1 - i] = (uint8_t)(size * 8 >> (8 * i));
    for (uint32_t i = 0; i < end; i += 64) hash_block(state, tail + i);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

/* JSON, as much as the header of a safetensors file has of it; nothing is read after an error. */

enum { MOST_NESTED = 32 };

struct json {
    char *at; /* decoded texts replace what they were written as */
    char *end;
    bool wrong;
};

struct word {
    const char *data;
    size_t size;
};

static void skip_spaces(struct json *json) {
    while (json->at < json->end && *json->at && strchr(" \t\r\n", *json->at)) json->at++;
}

static bool next_is(struct json *json, char wanted) {
    skip_spaces(json);
    if (json->wrong || json->at == json->end || *json->at != wanted) return false;
    json->at++;
    return true;
}

static void expect(struct json *json, char wanted) {
    if (!next_is(json, wanted)) json->wrong = true;
}

static uint32_t four_digits(struct json *json) {
    uint32_t value = 0;
    for (int i = 0; i < 4 && !json->wrong; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = json->at < json->end && *json->at ? strchr(digits, *json->at) : NULL;
        if (found) value = value << 4 | (uint32_t)(found - digits) % 16;
        else json->wrong = true;
        json->at += found != NULL;
    }
    return value;
}

static char *put_utf8(char *to, uint32_t c) {
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t leads[4] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(leads[more] | c >> (6 * more));
    while (more-- > 0) *to++ = (char)(0x80 | (c >> (6 * more) & 0x3f));
    return to;
}

static struct word read_text(struct json *json) {
    expect(json, '"');
    char *start = json->at, *to = start;
    while (!json->wrong) {
        if (json->at == json->end || (uint8_t)*json->at < 0x20) {
            json->wrong = true;
            break;
        }
        char c = *json->at++;
        if (c == '"') break;
        if (c != '\\') {
            *to++ = c;
            continue;
        }
        static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        const char *known = json->at < json->end && *json->at ? strchr(escapes, *json->at) : NULL;
        if (known) {
            *to++ = meanings[known - escapes];
            json->at++;
        } else if (json->at < json->end && *json->at == 'u') {
            json->at++;
            uint32_t value = four_digits(json);
            if (value >= 0xd800 && value < 0xdc00 && json->end - json->at > 6 && json->at[0] == '\\' && json->at[1] == 'u') {
                json->at += 2;
                value = 0x10000 + ((value - 0xd800) << 10) + (four_digits(json) - 0xdc00) % 0x400;
            }
            to = put_utf8(to, value);
        } else {
            json->wrong = true;
        }
    }
    return (struct word){start, (size_t)(to - start)};
}

/* A whole number from 0 on. */
static int64_t read_number(struct json *json) {
    int64_t value = 0;
    bool any = false;
    skip_spaces(json);
    for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++, any = true) {
        if (value > (INT64_MAX - 9) / 10) json->wrong = true;
        else value = 10 * value + (*json->at - '0');
    }
    if (!any) json->wrong = true;
    return value;
}

/* A list of at most `most` numbers; how many there are. */
static uint32_t read_numbers(struct json *json, int64_t *numbers, uint32_t most) {
    uint32_t count = 0;
    expect(json, '[');
    if (next_is(json, ']')) return 0;
    do {
        int64_t number = read_number(json);
        if (count < most) numbers[count++] = number;
        else json->wrong = true;
    } while (next_is(json, ','));
    expect(json, ']');
    return count;
}

static void skip_value(struct json *json, int depth) {
    if (depth > MOST_NESTED) json->wrong = true;
    if (json->wrong) return;
    bool is_object = next_is(json, '{');
    if (is_object || next_is(json, '[')) {
        char end = is_object ? '}' : ']';
        if (next_is(json, end)) return;
        do {
            if (is_object) {
                read_text(json);
                expect(json, ':');
            }
            skip_value(json, depth + 1);
        } while (next_is(json, ','));
        expect(json, end);
    } else if (json->at < json->end && *json->at == '"') {
        read_text(json);
    } else {
        char *start = json->at;
        while (json->at < json->end && !strchr(",]} \t\r\n", *json->at)) json->at++;
        if (json->at == start) json->wrong = true;
    }
}

/* Weights */

struct weight {
    struct word key;
    struct ingot_bytes digest;
    uint32_t constant;
};

struct entry {
    struct word dtype;
    int64_t shape[INGOT_MAX_RANK], place[2];
    uint32_t rank, ends;
};

static int compare_words(struct word a, struct word b) {
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare(const void *a, const void *b) {
    return compare_words(((const struct weight *)a)->key, ((const struct weight *)b)->key);
}

static bool is_word(struct word word, const char *text) {
    return word.size == strlen(text) && !memcmp(word.data, text, word.size);
}

static struct entry read_entry(struct json *json) {
    struct entry entry = {.ends = 0};
    expect(json, '{');
    if (next_is(json, '}')) return entry;
    do {
        struct word name = read_text(json);
        expect(json, ':');
        if (is_word(name, "dtype")) entry.dtype = read_text(json);
        else if (is_word(name, "shape")) entry.rank = read_numbers(json, entry.shape, INGOT_MAX_RANK);
        else if (is_word(name, "data_offsets")) entry.ends = read_numbers(json, entry.place, 2);
        else skip_value(json, 0);
    } while (next_is(json, ','));
    expect(json, '}');
    return entry;
}

struct search {
    struct view view;
    struct vector constants;
    struct weight *weights;
    uint32_t count;
    const uint8_t *tensors;
    uint64_t size, unread; /* of the tensors; bytes that were not compared yet */
    const uint8_t **data;
    struct ingot_error *error;
};

static int changed(struct search *search, struct word key, const char *how) {
    return ingot_fail(search->error, "the weights of the bundle have changed: %.*s %s",
                      key.size < 100 ? (int)key.size : 100, key.data, how);
}

/* Compares a weight with what the bundle says of it, and notes where it is. */
static int take(struct search *search, const struct weight *weight, const struct entry *entry) {
    static const char *const names[DTYPES] = {"BOOL", "", "I8", "I16", "I32", "I64", "F16",
                                              "BF16", "F32", "C64", "U8", "U16", "U32", "U64"};
    struct table constant = vector_table(search->constants, weight->constant);
    struct ingot_type type = tensor_type(table_table(constant, CONSTANT_TYPE, ""));
    bool fits = entry->dtype.data && is_word(entry->dtype, names[type.dtype]) && entry->rank == type.rank;
    for (uint32_t i = 0; fits && i < type.rank; i++) fits = entry->shape[i] == type.shape[i];
    if (!fits) return changed(search, weight->key, "has another type");
    uint64_t start = (uint64_t)entry->place[0], end = (uint64_t)entry->place[1];
    if (entry->ends != 2 || start > end || end > search->size || end - start != ingot_byte_size(&type))
        return changed(search, weight->key, "lies outside of the file");
    /* Tensors share no bytes, so that comparing all of them reads the file once. */
    if (search->data[weight->constant] || end - start > search->unread)
        return changed(search, weight->key, "is there twice");
    search->unread -= end - start;
    uint8_t digest[32];
    sha256(search->tensors + start, end - start, digest);
    if (memcmp(digest, weight->digest.data, sizeof digest))
        return changed(search, weight->key, "has other values than when the bundle was compiled");
    search->data[weight->constant] = search->tensors + start;
    return 0;
}

static int read_header(struct search *search, struct json *json) {
    expect(json, '{');
    bool more = !next_is(json, '}');
    while (more && !json->wrong) {
        struct weight wanted = {.key = read_text(json)};
        expect(json, ':');
        const struct weight *found =
            json->wrong ? NULL : bsearch(&wanted, search->weights, search->count, sizeof wanted, compare);
        if (!found) {
            skip_value(json, 0);
        } else {
            struct entry entry = read_entry(json);
            if (!json->wrong && take(search, found, &entry)) return 1;
        }
        more = next_is(json, ',');
        if (!more) expect(json, '}');
    }
    if (json->wrong) return ingot_fail(search->error, "the weights of the bundle are no safetensors file");
    for (uint32_t i = 0; i < search->count; i++)
        if (!search->data[search->weights[i].constant]) return changed(search, search->weights[i].key, "is missing");
    return 0;
}

/* The weights that the bundle names, by key; an error where two are one. */
static int list_weights(struct search *search) {
    for (uint32_t i = 0; i < search->constants.count; i++) {
        search->view.budget = UINT64_MAX;
        struct table constant = vector_table(search->constants, i);
        if (table_u8(constant, CONSTANT_DATA_TYPE) != DATA_WEIGHT) continue;
        struct table data = table_table(constant, CONSTANT_DATA, "");
        struct ingot_text key = table_text(data, WEIGHT_DATA_KEY);
        struct weight weight = {{key.data, key.size}, table_bytes(data, WEIGHT_DATA_DIGEST), i};
        search->weights[search->count++] = weight;
    }
    qsort(search->weights, search->count, sizeof *search->weights, compare);
    for (uint32_t i = 1; i < search->count; i++)
        if (!compare(&search->weights[i - 1], &search->weights[i]))
            return ingot_fail(search->error, "two constants of the bundle are the same weight");
    return 0;
}

static int search_file(struct search *search, struct ingot_bytes file) {
    uint64_t length = 0;
    for (int i = 8; i-- > 0 && file.size >= 8;) length = length << 8 | ((const uint8_t *)file.data)[i];
    if (file.size < 8 || length > file.size - 8)
        return ingot_fail(search->error, "the weights of the bundle are no safetensors file");
    search->tensors = (const uint8_t *)file.data + 8 + length;
    search->size = search->unread = file.size - 8 - length;
    char *header = malloc((size_t)length + 1);
    if (!header) return ingot_fail(search->error, "out of memory");
    memcpy(header, (const uint8_t *)file.data + 8, (size_t)length);
    struct json json = {header, header + length, false};
    int status = read_header(search, &json);
    free(header);
    return status;
}

int weights_find(const struct ingot_bundle *bundle, const uint8_t **data, struct ingot_error *error) {
    struct search search = {.view = bundle_view(bundle), .data = data, .error = error};
    search.constants = bundle_constants(&search.view);
    struct ingot_text file = ingot_weights_file(bundle);
    if (!file.size) return 0;
    if (!bundle->weights.data)
        return ingot_fail(error, "the weights of the bundle are missing: they are in '%.100s'", file.data);
    search.weights = malloc((size_t)search.constants.count * sizeof *search.weights);
    if (!search.weights) return ingot_fail(error, "out of memory");
    search.view.budget = UINT64_MAX;
    int status = list_weights(&search) || search_file(&search, bundle->weights);
    free(search.weights);
    return status;
}
