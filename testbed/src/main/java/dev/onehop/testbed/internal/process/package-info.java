/** Server processes: starting, watching and ending them, and their information in {@code /proc}. */
@NullMarked
package dev.onehop.testbed.internal.process;

import org.jspecify.annotations.NullMarked;
