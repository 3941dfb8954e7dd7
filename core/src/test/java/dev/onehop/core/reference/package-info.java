/** The server's rules a second time, written plainly and without looking at the first. */
@NullMarked
package dev.onehop.core.reference;

import org.jspecify.annotations.NullMarked;
