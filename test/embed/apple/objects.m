/* Foundation's objects as far as the Metal back end meets them; counted, to find what is never let go. */
#import "stand_in.h"

#include <stdlib.h>
#include <string.h>

id class_createInstance(Class class, size_t more);
id object_dispose(id object);

long stand_in_objects = 0;

@implementation NSObject
+ (instancetype)alloc {
    NSObject *object = class_createInstance(self, 0);
    object->owners = 1;
    stand_in_objects++;
    return object;
}
+ (instancetype)new {
    return [[self alloc] init];
}
- (instancetype)init {
    return self;
}
- (instancetype)retain {
    owners++;
    return self;
}
- (oneway void)release {
    stand_in_require(owners > 0, "an object was released too often");
    if (--owners == 0) [self dealloc];
}
- (instancetype)autorelease {
    [NSAutoreleasePool add:self];
    return self;
}
- (void)dealloc {
    stand_in_objects--;
    object_dispose(self);
}
@end

@implementation NSAutoreleasePool
static NSAutoreleasePool *innermost;

- (instancetype)init {
    outer = innermost;
    innermost = self;
    return self;
}
+ (void)add:(id)object {
    stand_in_require(innermost != nil, "an object was autoreleased without a pool");
    if (!innermost) return;
    innermost->objects = realloc(innermost->objects, (innermost->count + 1) * sizeof(id));
    innermost->objects[innermost->count++] = object;
}
- (void)drain {
    innermost = outer;
    for (size_t i = 0; i < count; i++) [objects[i] release];
    free(objects);
    [self release];
}
@end

@implementation NSString
+ (instancetype)stringWithUTF8String:(const char *)characters {
    NSString *string = [self new];
    string->text = strdup(characters);
    return [string autorelease];
}
- (const char *)UTF8String {
    return text;
}
- (void)dealloc {
    free(text);
    [super dealloc];
}
@end

@implementation NSError
- (NSString *)localizedDescription {
    return description;
}
- (void)dealloc {
    [description release];
    [super dealloc];
}
@end

NSError *stand_in_error(const char *text) {
    NSError *error = [NSError new];
    error->description = [[NSString stringWithUTF8String:text] retain];
    return [error autorelease];
}

@interface StandInData : NSObject <OS_dispatch_data> {
@public
    void *bytes;
    size_t size;
}
@end
@implementation StandInData
- (void)dealloc {
    free(bytes);
    [super dealloc];
}
@end

dispatch_data_t dispatch_data_create(const void *data, size_t size, dispatch_queue_t queue, dispatch_block_t done) {
    StandInData *copy = [StandInData new];
    stand_in_require(!queue && done == DISPATCH_DATA_DESTRUCTOR_DEFAULT, "only copies are known here");
    copy->bytes = calloc(1, size + 1);
    copy->size = size;
    memcpy(copy->bytes, data, size);
    return copy;
}

const char *stand_in_text(dispatch_data_t data) { return ((StandInData *)data)->bytes; }
