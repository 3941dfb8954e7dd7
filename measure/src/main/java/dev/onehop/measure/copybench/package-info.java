/** What {@code onehop copy --bench} measures. */
@NullMarked
package dev.onehop.measure.copybench;

import org.jspecify.annotations.NullMarked;
