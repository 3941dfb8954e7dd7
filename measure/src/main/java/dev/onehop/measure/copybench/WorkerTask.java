package dev.onehop.measure.copybench;

/**
 * What a worker is for.
 *
 * @param way by which it copies
 * @param from URL of the source
 * @param to URL of the destination
 */
record WorkerTask(Way way, String from, String to) {}
