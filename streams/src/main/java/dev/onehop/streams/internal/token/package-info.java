/** Resume tokens and types of change events. */
@NullMarked
package dev.onehop.streams.internal.token;

import org.jspecify.annotations.NullMarked;
