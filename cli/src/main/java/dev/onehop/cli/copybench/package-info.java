/** What {@code onehop copy --bench} measures. */
@NullMarked
package dev.onehop.cli.copybench;

import org.jspecify.annotations.NullMarked;
