/** Resume tokens. */
@NullMarked
package dev.onehop.streams.internal.token;

import org.jspecify.annotations.NullMarked;
