/* What the Metal back end uses of Foundation, written from its documentation: for checks without a Mac. */
#ifndef STAND_IN_FOUNDATION_H
#define STAND_IN_FOUNDATION_H
#include <stddef.h>
#include <stdint.h>

#ifdef __APPLE__
#define SINCE(mac, phone) __attribute__((availability(macos, introduced = mac), availability(ios, introduced = phone)))
#else
#define SINCE(mac, phone)
#endif

typedef signed char BOOL;
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil ((id)0)
typedef unsigned long NSUInteger;
typedef long NSInteger;

#pragma clang assume_nonnull begin

@protocol NSObject
- (instancetype)retain;
- (oneway void)release;
- (instancetype)autorelease;
@end

__attribute__((objc_root_class)) @interface NSObject <NSObject> {
    Class isa;
    long owners;
}
+ (instancetype)alloc;
+ (instancetype)new;
- (instancetype)init;
- (void)dealloc;
@end

@interface NSString : NSObject {
    char *text;
}
+ (nullable instancetype)stringWithUTF8String:(const char *)text;
@property(readonly, nullable) const char *UTF8String;
@end

@interface NSError : NSObject {
@public
    NSString *description;
}
@property(readonly, copy) NSString *localizedDescription;
@end

#pragma clang assume_nonnull end
#endif
