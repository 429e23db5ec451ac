#include "link/crc32.h"

/* The CRCs of the sixteen half bytes: a table for whole bytes would take 1 KiB of the flash. */
static const uint32_t half_bytes[16] = {
    0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
    0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu, 0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu,
};

uint32_t crc32(const uint8_t *bytes, size_t length)
{
    uint32_t crc = 0xFFFFFFFFu;

    for (size_t at = 0; at < length; at++) {
        crc ^= bytes[at];
        crc = (crc >> 4) ^ half_bytes[crc & 0xFu];
        crc = (crc >> 4) ^ half_bytes[crc & 0xFu];
    }
    return ~crc;
}
