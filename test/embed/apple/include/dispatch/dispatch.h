/* What Metal needs of Grand Central Dispatch, written from its documentation. */
#ifndef STAND_IN_DISPATCH_H
#define STAND_IN_DISPATCH_H
#include <stddef.h>

typedef struct dispatch_queue_s *dispatch_queue_t;
typedef void (^dispatch_block_t)(void);
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT ((dispatch_block_t)0)

@protocol OS_dispatch_data <NSObject>
@end
typedef NSObject<OS_dispatch_data> *dispatch_data_t;

__attribute__((ns_returns_retained)) dispatch_data_t _Nonnull dispatch_data_create(const void *_Nullable data, size_t size,
                                                                        dispatch_queue_t _Nullable queue,
                                                                        dispatch_block_t _Nullable destructor);
#endif
