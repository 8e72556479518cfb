#include "ingot_vulkan.h"
#include "spirv.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { SETS_PER_POOL = 64, MOST_BINDINGS = 64 };

/* Vulkan's feature structs, linked; all that a device offers is enabled. */
struct features {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
};

struct context {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool commands_pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkDescriptorPool *pools; /* of the sets that the recorded commands use */
    uint32_t pool_count, pool_capacity, sets_left;
    uint32_t memory_type;
    VkSubgroupFeatureFlags subgroup;
    VkPhysicalDeviceVulkan12Properties v12;
    struct features features;
    bool is_recording;
};

struct ingot_buffer_ {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *contents;
};

struct ingot_pipeline_ {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

static int fail(struct ingot_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return 1;
}

static int check(VkResult result, const char *doing, struct ingot_error *error) {
    if (result == VK_SUCCESS) return 0;
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY)
        return fail(error, "%s: the device has not enough memory", doing);
    if (result == VK_ERROR_DEVICE_LOST) return fail(error, "%s: the device was lost", doing);
    return fail(error, "%s: Vulkan error %d", doing, result);
}

/* Buffers */

static void release(void *opaque, ingot_buffer buffer) {
    struct context *c = opaque;
    vkDestroyBuffer(c->device, buffer->buffer, NULL);
    vkFreeMemory(c->device, buffer->memory, NULL);
    free(buffer);
}

static int allocate(void *opaque, uint64_t size, ingot_buffer *out, struct ingot_error *error) {
    struct context *c = opaque;
    ingot_buffer buffer = calloc(1, sizeof *buffer);
    if (!buffer) return fail(error, "out of memory");
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = (size + 3) / 4 * 4,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    if (check(vkCreateBuffer(c->device, &info, NULL, &buffer->buffer), "creating a buffer", error)) {
        free(buffer);
        return 1;
    }
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(c->device, buffer->buffer, &needs);
    VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = c->memory_type,
    };
    if (check(vkAllocateMemory(c->device, &memory, NULL, &buffer->memory), "allocating a buffer", error) ||
        check(vkBindBufferMemory(c->device, buffer->buffer, buffer->memory, 0), "binding a buffer", error) ||
        check(vkMapMemory(c->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &buffer->contents), "mapping a buffer",
              error)) {
        release(c, buffer);
        return 1;
    }
    memset(buffer->contents, 0, (size_t)size);
    *out = buffer;
    return 0;
}

static void *contents(void *opaque, ingot_buffer buffer) {
    (void)opaque;
    return buffer->contents;
}

/* Pipelines */

static void release_pipeline(void *opaque, ingot_pipeline pipeline) {
    struct context *c = opaque;
    vkDestroyPipeline(c->device, pipeline->pipeline, NULL);
    vkDestroyPipelineLayout(c->device, pipeline->layout, NULL);
    vkDestroyDescriptorSetLayout(c->device, pipeline->set_layout, NULL);
    free(pipeline);
}

static int create_layouts(struct context *c, const struct ingot_kernel *kernel, ingot_pipeline pipeline,
                          struct ingot_error *error) {
    VkDescriptorSetLayoutBinding slots[MOST_BINDINGS];
    for (uint32_t i = 0; i < kernel->bindings; i++)
        slots[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                  VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = kernel->bindings,
        .pBindings = slots,
    };
    VkPushConstantRange constants = {VK_SHADER_STAGE_COMPUTE_BIT, 0, (kernel->push_constant_size + 3) / 4 * 4};
    VkPipelineLayoutCreateInfo layout_info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &pipeline->set_layout,
        .pushConstantRangeCount = kernel->push_constant_size ? 1 : 0,
        .pPushConstantRanges = &constants,
    };
    return check(vkCreateDescriptorSetLayout(c->device, &set_info, NULL, &pipeline->set_layout), "creating a layout",
                 error) ||
           check(vkCreatePipelineLayout(c->device, &layout_info, NULL, &pipeline->layout), "creating a layout", error);
}

static int has_feature(void *opaque, struct ingot_text name);

static int create_pipeline(void *opaque, const struct ingot_kernel *kernel, ingot_pipeline *out,
                           struct ingot_error *error) {
    struct context *c = opaque;
    if (!kernel->spirv.size) return fail(error, "kernel '%.100s' has no SPIR-V", kernel->name.data);
    if (kernel->bindings > MOST_BINDINGS) return fail(error, "kernel '%.100s' has too many buffers", kernel->name.data);
    ingot_pipeline pipeline = calloc(1, sizeof *pipeline);
    uint32_t *words = malloc((size_t)kernel->spirv.size); /* aligned, whatever the file is */
    if (!pipeline || !words) {
        free(pipeline);
        free(words);
        return fail(error, "out of memory");
    }
    memcpy(words, kernel->spirv.data, (size_t)kernel->spirv.size);
    VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = (size_t)kernel->spirv.size,
        .pCode = words,
    };
    VkShaderModule module = VK_NULL_HANDLE;
    struct ingot_text entry = kernel->spirv_entry_point.size ? kernel->spirv_entry_point : kernel->entry_point;
    int status = spirv_check(words, (size_t)kernel->spirv.size / 4, kernel, entry.data, has_feature, c, error) ||
                 create_layouts(c, kernel, pipeline, error) ||
                 check(vkCreateShaderModule(c->device, &module_info, NULL, &module), "loading a kernel", error);
    if (!status) {
        VkComputePipelineCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .module = module,
                      .pName = entry.data},
            .layout = pipeline->layout,
        };
        status = check(vkCreateComputePipelines(c->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline->pipeline),
                       "compiling a kernel", error);
    }
    vkDestroyShaderModule(c->device, module, NULL);
    free(words);
    if (status) release_pipeline(c, pipeline);
    else *out = pipeline;
    return status;
}

/* Commands */

static int begin(struct context *c, struct ingot_error *error) {
    if (c->is_recording) return 0;
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (check(vkBeginCommandBuffer(c->commands, &info), "recording commands", error)) return 1;
    c->is_recording = true;
    return 0;
}

static void forget(struct context *c) {
    for (uint32_t i = 0; i < c->pool_count; i++) vkDestroyDescriptorPool(c->device, c->pools[i], NULL);
    c->pool_count = c->sets_left = 0;
    c->is_recording = false;
    vkResetCommandPool(c->device, c->commands_pool, 0);
}

static void discard(void *opaque) { forget(opaque); }

static int grow_pools(struct context *c, struct ingot_error *error) {
    if (c->pool_count == c->pool_capacity) {
        uint32_t capacity = c->pool_capacity ? 2 * c->pool_capacity : 4;
        VkDescriptorPool *pools = realloc(c->pools, capacity * sizeof *pools);
        if (!pools) return fail(error, "out of memory");
        c->pools = pools;
        c->pool_capacity = capacity;
    }
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, SETS_PER_POOL * MOST_BINDINGS};
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = SETS_PER_POOL,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    if (check(vkCreateDescriptorPool(c->device, &info, NULL, &c->pools[c->pool_count]), "binding buffers", error))
        return 1;
    c->pool_count++;
    c->sets_left = SETS_PER_POOL;
    return 0;
}

static int bind(struct context *c, ingot_pipeline pipeline, const struct ingot_range *bindings, uint32_t count,
                struct ingot_error *error) {
    VkDescriptorBufferInfo buffers[MOST_BINDINGS];
    VkWriteDescriptorSet writes[MOST_BINDINGS];
    VkDescriptorSet set;
    if (!c->sets_left && grow_pools(c, error)) return 1;
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = c->pools[c->pool_count - 1],
        .descriptorSetCount = 1,
        .pSetLayouts = &pipeline->set_layout,
    };
    if (check(vkAllocateDescriptorSets(c->device, &info, &set), "binding buffers", error)) return 1;
    c->sets_left--;
    for (uint32_t i = 0; i < count; i++) {
        /* A range without bytes shows the first word of its buffer, which its kernel never reads. */
        bool is_empty = bindings[i].length == 0;
        buffers[i] = (VkDescriptorBufferInfo){bindings[i].buffer->buffer, is_empty ? 0 : bindings[i].offset,
                                              is_empty ? 4 : (bindings[i].length + 3) / 4 * 4};
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = &buffers[i]};
    }
    vkUpdateDescriptorSets(c->device, count, writes, 0, NULL);
    vkCmdBindDescriptorSets(c->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0, 1, &set, 0, NULL);
    return 0;
}

static int dispatch(void *opaque, ingot_pipeline pipeline, const uint32_t groups[3],
                    const struct ingot_range *bindings, uint32_t count, struct ingot_bytes constants,
                    struct ingot_error *error) {
    struct context *c = opaque;
    if (begin(c, error)) return 1;
    vkCmdBindPipeline(c->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
    if (bind(c, pipeline, bindings, count, error)) return 1;
    if (constants.size) {
        uint8_t padded[256] = {0};
        if (constants.size > sizeof padded) return fail(error, "a kernel has too many push constants");
        memcpy(padded, constants.data, (size_t)constants.size);
        vkCmdPushConstants(c->commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           (uint32_t)(constants.size + 3) / 4 * 4, padded);
    }
    vkCmdDispatch(c->commands, groups[0], groups[1], groups[2]);
    return 0;
}

static int submit(void *opaque, struct ingot_error *error);

static int fill(void *opaque, struct ingot_range target, struct ingot_bytes pattern, struct ingot_error *error) {
    struct context *c = opaque;
    if (target.offset % 4 == 0 && target.length % 4 == 0) {
        uint8_t word[4];
        for (int i = 0; i < 4; i++) word[i] = ((const uint8_t *)pattern.data)[(uint64_t)i % pattern.size];
        uint32_t value;
        memcpy(&value, word, sizeof value);
        if (begin(c, error)) return 1;
        vkCmdFillBuffer(c->commands, target.buffer->buffer, target.offset, target.length, value);
        return 0;
    }
    /* Vulkan fills whole words only: the host does it, after what was recorded before. */
    if (submit(c, error)) return 1;
    uint8_t *bytes = (uint8_t *)target.buffer->contents + target.offset;
    for (uint64_t i = 0; i < target.length; i++) bytes[i] = ((const uint8_t *)pattern.data)[i % pattern.size];
    return 0;
}

static int copy(void *opaque, struct ingot_range source, struct ingot_range target, struct ingot_error *error) {
    struct context *c = opaque;
    VkBufferCopy region = {source.offset, target.offset, source.length};
    if (begin(c, error)) return 1;
    vkCmdCopyBuffer(c->commands, source.buffer->buffer, target.buffer->buffer, 1, &region);
    return 0;
}

static void record_barrier(struct context *c, VkPipelineStageFlags to, VkAccessFlags reads) {
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = reads,
    };
    vkCmdPipelineBarrier(c->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, to, 0, 1,
                         &memory, 0, NULL, 0, NULL);
}

static int barrier(void *opaque, struct ingot_error *error) {
    struct context *c = opaque;
    if (begin(c, error)) return 1;
    record_barrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                   VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                       VK_ACCESS_TRANSFER_WRITE_BIT);
    return 0;
}

static int submit(void *opaque, struct ingot_error *error) {
    struct context *c = opaque;
    if (!c->is_recording) return 0;
    record_barrier(c, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &c->commands,
    };
    int status = check(vkEndCommandBuffer(c->commands), "recording commands", error) ||
                 check(vkResetFences(c->device, 1, &c->fence), "submitting commands", error) ||
                 check(vkQueueSubmit(c->queue, 1, &info, c->fence), "submitting commands", error);
    if (!status && check(vkWaitForFences(c->device, 1, &c->fence, VK_TRUE, UINT64_MAX), "waiting for commands", error)) {
        status = 1;
        vkDeviceWaitIdle(c->device); /* what still runs uses what is forgotten next */
    }
    forget(c);
    return status;
}

/* The device */

static int has_feature(void *opaque, struct ingot_text name) {
    const struct context *c = opaque;
    const VkPhysicalDeviceFeatures *core = &c->features.core.features;
    const VkPhysicalDeviceVulkan11Features *v11 = &c->features.v11;
    const VkPhysicalDeviceVulkan12Features *v12 = &c->features.v12;
    const struct {
        const char *name;
        bool is_there;
    } known[] = {
        {"robust-buffer-access", core->robustBufferAccess},
        {"int64", core->shaderInt64},
        {"int16", core->shaderInt16},
        {"storage16", v11->storageBuffer16BitAccess},
        {"uniform-storage16", v11->uniformAndStorageBuffer16BitAccess},
        {"variable-pointers", v11->variablePointersStorageBuffer},
        {"storage8", v12->storageBuffer8BitAccess},
        {"uniform-storage8", v12->uniformAndStorageBuffer8BitAccess},
        {"float16", v12->shaderFloat16},
        {"int8", v12->shaderInt8},
        {"int64-atomics", v12->shaderBufferInt64Atomics},
        {"timeline-semaphore", v12->timelineSemaphore},
        {"vulkan-memory-model", v12->vulkanMemoryModel},
        {"vulkan-memory-model-device", v12->vulkanMemoryModelDeviceScope},
        {"subgroup-extended-types", v12->shaderSubgroupExtendedTypes},
        {"special-values16", c->v12.shaderSignedZeroInfNanPreserveFloat16},
        {"special-values32", c->v12.shaderSignedZeroInfNanPreserveFloat32},
        {"subgroup-basic", c->subgroup & VK_SUBGROUP_FEATURE_BASIC_BIT},
        {"subgroup-vote", c->subgroup & VK_SUBGROUP_FEATURE_VOTE_BIT},
        {"subgroup-arithmetic", c->subgroup & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT},
        {"subgroup-ballot", c->subgroup & VK_SUBGROUP_FEATURE_BALLOT_BIT},
        {"subgroup-shuffle", c->subgroup & VK_SUBGROUP_FEATURE_SHUFFLE_BIT},
        {"subgroup-shuffle-relative", c->subgroup & VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT},
        {"subgroup-clustered", c->subgroup & VK_SUBGROUP_FEATURE_CLUSTERED_BIT},
        {"subgroup-quad", c->subgroup & VK_SUBGROUP_FEATURE_QUAD_BIT},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (name.size == strlen(known[i].name) && !memcmp(name.data, known[i].name, name.size))
            return known[i].is_there;
    return 0;
}

/* A queue family that computes, -1 where there is none or the device is older than Vulkan 1.2. */
static int compute_family(VkPhysicalDevice physical) {
    VkQueueFamilyProperties families[16];
    VkPhysicalDeviceProperties properties;
    uint32_t count = 16;
    vkGetPhysicalDeviceProperties(physical, &properties);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    if (properties.apiVersion < VK_API_VERSION_1_2) return -1;
    for (uint32_t i = 0; i < count; i++)
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) return (int)i;
    return -1;
}

static int choose_device(struct context *c, struct ingot_error *error) {
    VkPhysicalDevice devices[16];
    uint32_t count = 16, number = 0;
    VkResult result = vkEnumeratePhysicalDevices(c->instance, &count, devices);
    if (result != VK_INCOMPLETE && check(result, "listing devices", error)) return -1;
    const char *wanted = getenv("INGOT_VULKAN_DEVICE");
    uint32_t skip = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 0;
    for (uint32_t i = 0; i < count; i++) {
        int family = compute_family(devices[i]);
        if (family < 0 || number++ < skip) continue;
        c->physical = devices[i];
        return family;
    }
    fail(error, "there is no Vulkan 1.2 device that can compute");
    return -1;
}

static int choose_memory(struct context *c, struct ingot_error *error) {
    VkPhysicalDeviceMemoryProperties memory;
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    vkGetPhysicalDeviceMemoryProperties(c->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        if ((memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
            c->memory_type = i;
            return 0;
        }
    return fail(error, "the device has no memory that the host can see");
}

static int open_device(struct context *c, uint32_t family, struct ingot_error *error) {
    float priority = 1;
    c->features.v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    c->features.v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    c->features.v11.pNext = &c->features.v12;
    c->features.core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    c->features.core.pNext = &c->features.v11;
    vkGetPhysicalDeviceFeatures2(c->physical, &c->features.core);
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &c->features.core,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
    };
    if (check(vkCreateDevice(c->physical, &info, NULL, &c->device), "opening a device", error)) return 1;
    vkGetDeviceQueue(c->device, family, 0, &c->queue);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = family};
    if (check(vkCreateCommandPool(c->device, &pool, NULL, &c->commands_pool), "opening a device", error)) return 1;
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = c->commands_pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    return check(vkAllocateCommandBuffers(c->device, &commands, &c->commands), "opening a device", error) ||
           check(vkCreateFence(c->device, &fence, NULL, &c->fence), "opening a device", error);
}

/* The rank of `vulkan:` targets that the device satisfies, as the Python runtime has it; kernels for
 * cooperative matrices (rank 2) are left to that one. */
static void describe(struct context *c, struct ingot_device *device) {
    VkPhysicalDeviceVulkan11Properties v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
                                              .pNext = &c->v12};
    c->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &v11};
    vkGetPhysicalDeviceProperties2(c->physical, &all);
    const VkPhysicalDeviceLimits *limits = &all.properties.limits;
    if (v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) c->subgroup = v11.subgroupSupportedOperations;
    bool shuffles = c->subgroup & VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    device->simd_width = v11.subgroupSize;
    device->family = shuffles && limits->maxComputeSharedMemorySize >= 32768 &&
                     limits->maxComputeWorkGroupInvocations >= 1024;
}

int ingot_vulkan_open(struct ingot_device *device, struct ingot_error *error) {
    struct context *c = calloc(1, sizeof *c);
    if (!c) return fail(error, "out of memory");
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_2,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    *device = (struct ingot_device){
        .context = c,
        .api = "vulkan",
        .has_feature = has_feature,
        .allocate = allocate,
        .contents = contents,
        .release = release,
        .pipeline = create_pipeline,
        .release_pipeline = release_pipeline,
        .dispatch = dispatch,
        .fill = fill,
        .copy = copy,
        .barrier = barrier,
        .submit = submit,
        .discard = discard,
    };
    int family = -1;
    if (check(vkCreateInstance(&info, NULL, &c->instance), "starting Vulkan", error) ||
        (family = choose_device(c, error)) < 0 || choose_memory(c, error) || open_device(c, (uint32_t)family, error)) {
        ingot_vulkan_close(device);
        return 1;
    }
    describe(c, device);
    return 0;
}

void ingot_vulkan_close(struct ingot_device *device) {
    struct context *c = device->context;
    if (!c) return;
    device->context = NULL;
    if (c->device) {
        vkDeviceWaitIdle(c->device);
        for (uint32_t i = 0; i < c->pool_count; i++) vkDestroyDescriptorPool(c->device, c->pools[i], NULL);
        vkDestroyFence(c->device, c->fence, NULL);
        vkDestroyCommandPool(c->device, c->commands_pool, NULL);
        vkDestroyDevice(c->device, NULL);
    }
    if (c->instance) vkDestroyInstance(c->instance, NULL);
    free(c->pools);
    free(c);
}
