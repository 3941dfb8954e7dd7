/**
 * The state that a copy stores at its destination, so that it can resume after its process has
 * ended.
 */
@NullMarked
package dev.onehop.copy.internal.state;

import org.jspecify.annotations.NullMarked;
