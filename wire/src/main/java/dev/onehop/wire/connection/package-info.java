/**
 * Connections to servers: of their own or shared, on event loops or for threads that wait, in
 * pools.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.wire.connection;

import org.jspecify.annotations.NullMarked;
