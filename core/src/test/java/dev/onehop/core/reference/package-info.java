/**
 * A second implementation of the server's rules, written simply and independently of the first one.
 */
@NullMarked
package dev.onehop.core.reference;

import org.jspecify.annotations.NullMarked;
