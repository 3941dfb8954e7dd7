/** The common parts of all benches. */
@NullMarked
package dev.onehop.measure;

import org.jspecify.annotations.NullMarked;
