package dev.onehop.measure.copying;

/**
 * What a worker is for.
 *
 * @param way by which it copies
 * @param from URL of the source
 * @param to URL of the destination
 */
record ToolTask(CopyTool way, String from, String to) {}
