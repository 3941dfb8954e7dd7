/**
 * What a bench run found: the model behind {@code results.json}, and reading and writing that file.
 *
 * <p>The JSON names are a format others rely on: they may be added to, not renamed.
 */
@NullMarked
package dev.onehop.measure.results;

import org.jspecify.annotations.NullMarked;
