/** What change streams give, and the places in them. */
@NullMarked
package dev.onehop.streams.event;

import org.jspecify.annotations.NullMarked;
