/** The measurements of {@code onehop copy --bench}. */
@NullMarked
package dev.onehop.measure.copying;

import org.jspecify.annotations.NullMarked;
