/**
 * Monitors servers, with official clients that serve only this purpose.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.wire.watch;

import org.jspecify.annotations.NullMarked;
