/** Whether a process with this ID runs, whoever it belongs to. */
export function processExists(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
