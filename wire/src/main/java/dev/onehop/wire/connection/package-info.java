/**
 * Pools of connections to servers: separate or shared, on event loops or blocking.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.wire.connection;

import org.jspecify.annotations.NullMarked;
