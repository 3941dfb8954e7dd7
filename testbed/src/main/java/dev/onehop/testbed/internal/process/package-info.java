/** Server processes: starting, watching and ending them, and what {@code /proc} says about them. */
@NullMarked
package dev.onehop.testbed.internal.process;

import org.jspecify.annotations.NullMarked;
