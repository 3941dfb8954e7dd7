/** What {@code onehop copy --bench} measures. */
@NullMarked
package dev.onehop.measure.copying;

import org.jspecify.annotations.NullMarked;
