/**
 * The official driver's settings, for OneHop's own connections and for clients that monitor
 * servers.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.wire.driver;

import org.jspecify.annotations.NullMarked;
