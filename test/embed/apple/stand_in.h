/* Metal for the Metal back end, without a Mac: kernels are run by whoever sets `stand_in_hooks`. */
#ifndef STAND_IN_H
#define STAND_IN_H
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

/* Numbers of libraries and kernels are the caller's, -1 for failure with a sentence in `message`. */
struct stand_in_hooks {
    int (*compile)(const char *source, int is_fast, char message[256]);
    int (*find)(int library, const char *entry);
    int (*members)(int kernel); /* of its argument buffer */
    int (*needs)(int kernel, unsigned index);
    int (*run)(int kernel, const uint32_t groups[3], const uint32_t threads[3], void *const *buffers,
               const uint64_t *lengths, unsigned count, char message[256]);
};
extern struct stand_in_hooks stand_in_hooks;
extern const char *stand_in_rule; /* the first rule that was broken, or NULL */
extern long stand_in_objects;     /* objects that nobody has let go */

#define stand_in_require(is_kept, rule) ((is_kept) || stand_in_rule ? (void)0 : (void)(stand_in_rule = (rule)))

@interface NSAutoreleasePool : NSObject {
    NSAutoreleasePool *outer;
    id *objects;
    size_t count;
}
+ (void)add:(id)object;
- (void)drain;
@end

NSError *stand_in_error(const char *text);
const char *stand_in_text(dispatch_data_t data);
#endif
