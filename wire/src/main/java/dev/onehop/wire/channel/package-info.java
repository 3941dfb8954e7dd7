/**
 * Event loops and channels that carry messages.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.wire.channel;

import org.jspecify.annotations.NullMarked;
