/** The progress of a copy, and the reasons why it can't continue. */
@NullMarked
package dev.onehop.copy.progress;

import org.jspecify.annotations.NullMarked;
