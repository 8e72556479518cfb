/* What clang calls for ARC, and the way of its modules into GCC's runtime.
 *
 * clang has no ARC for GCC's runtime, but for ObjFW's, whose modules are the same but for a number. */
#define _GNU_SOURCE
#import "stand_in.h"

#include <dlfcn.h>

id objc_retain(id object) { return [object retain]; }
void objc_release(id object) { [object release]; }
id objc_autoreleaseReturnValue(id object) { return [object autorelease]; }
id objc_retainAutoreleasedReturnValue(id object) { return [object retain]; }
void *objc_autoreleasePoolPush(void) { return [[NSAutoreleasePool alloc] init]; }
void objc_autoreleasePoolPop(void *pool) { [(NSAutoreleasePool *)pool drain]; }

void objc_storeStrong(id *place, id object) {
    id old = *place;
    *place = [object retain];
    [old release];
}

/* ObjFW's have a field more at the end. */
struct module {
    unsigned long version, size;
    const char *name;
    void *symbols;
};

void __objc_exec_class(struct module *module) {
    enum { VERSION_OF_GCC = 8 };
    void (*load)(struct module *) = (void (*)(struct module *))dlsym(RTLD_NEXT, "__objc_exec_class");
    module->version = VERSION_OF_GCC;
    module->size = sizeof *module;
    load(module);
}
