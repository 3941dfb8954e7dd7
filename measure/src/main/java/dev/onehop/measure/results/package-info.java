/**
 * The results of a bench run: the model of {@code results.json}, and reading and writing that file.
 *
 * <p>Other programs depend on the names in JSON: names may be added, but not renamed.
 */
@NullMarked
package dev.onehop.measure.results;

import org.jspecify.annotations.NullMarked;
