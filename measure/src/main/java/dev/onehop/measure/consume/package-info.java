/** {@code onehop consume}: change streams consumed in channels, measured and checked. */
@NullMarked
package dev.onehop.measure.consume;

import org.jspecify.annotations.NullMarked;
