/** The files of a run: its directory, its state, and the detection of leftovers. */
@NullMarked
package dev.onehop.testbed.internal.run;

import org.jspecify.annotations.NullMarked;
