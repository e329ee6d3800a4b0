/**
 * One buffer for everything that is read: each read is consumed before the next begins, so that the generator
 * allocates nothing per read and leaves the CPU to what is measured.
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(256 * 1024);
