/** What all benches have in common. */
@NullMarked
package dev.onehop.measure;

import org.jspecify.annotations.NullMarked;
