/** What a run leaves on disk: its directory, its state file, and how leftovers are recognised. */
@NullMarked
package dev.onehop.testbed.internal.run;

import org.jspecify.annotations.NullMarked;
