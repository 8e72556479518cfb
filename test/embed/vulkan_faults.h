/* Included before the Vulkan callbacks: their calls of the driver go through a counter that lets one of
 * them fail instead. */
#ifndef VULKAN_FAULTS_H
#define VULKAN_FAULTS_H

#include <vulkan/vulkan.h>

extern int fault_is_due(void);
extern VkResult fault_code;

#define FAULT(call) (fault_is_due() ? fault_code : (call))
#define vkCreateInstance(...) FAULT(vkCreateInstance(__VA_ARGS__))
#define vkEnumeratePhysicalDevices(...) FAULT(vkEnumeratePhysicalDevices(__VA_ARGS__))
#define vkCreateDevice(...) FAULT(vkCreateDevice(__VA_ARGS__))
#define vkCreateCommandPool(...) FAULT(vkCreateCommandPool(__VA_ARGS__))
#define vkAllocateCommandBuffers(...) FAULT(vkAllocateCommandBuffers(__VA_ARGS__))
#define vkCreateFence(...) FAULT(vkCreateFence(__VA_ARGS__))
#define vkCreateBuffer(...) FAULT(vkCreateBuffer(__VA_ARGS__))
#define vkAllocateMemory(...) FAULT(vkAllocateMemory(__VA_ARGS__))
#define vkBindBufferMemory(...) FAULT(vkBindBufferMemory(__VA_ARGS__))
#define vkMapMemory(...) FAULT(vkMapMemory(__VA_ARGS__))
#define vkCreateDescriptorSetLayout(...) FAULT(vkCreateDescriptorSetLayout(__VA_ARGS__))
#define vkCreatePipelineLayout(...) FAULT(vkCreatePipelineLayout(__VA_ARGS__))
#define vkCreateShaderModule(...) FAULT(vkCreateShaderModule(__VA_ARGS__))
#define vkCreateComputePipelines(...) FAULT(vkCreateComputePipelines(__VA_ARGS__))
#define vkCreateDescriptorPool(...) FAULT(vkCreateDescriptorPool(__VA_ARGS__))
#define vkAllocateDescriptorSets(...) FAULT(vkAllocateDescriptorSets(__VA_ARGS__))
#define vkBeginCommandBuffer(...) FAULT(vkBeginCommandBuffer(__VA_ARGS__))
#define vkEndCommandBuffer(...) FAULT(vkEndCommandBuffer(__VA_ARGS__))
#define vkQueueSubmit(...) FAULT(vkQueueSubmit(__VA_ARGS__))
#define vkWaitForFences(...) FAULT(vkWaitForFences(__VA_ARGS__))
#define vkResetFences(...) FAULT(vkResetFences(__VA_ARGS__))

#endif
