/** {@code onehop propagate}: how long a write takes to be seen elsewhere, measured and checked. */
@NullMarked
package dev.onehop.measure.propagate;

import org.jspecify.annotations.NullMarked;
