/**
 * Messages of the MongoDB wire protocol, and the error codes of servers.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.wire.message;

import org.jspecify.annotations.NullMarked;
