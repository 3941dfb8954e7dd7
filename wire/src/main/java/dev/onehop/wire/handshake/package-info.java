/**
 * The start of a connection to a server: hello, and authentication by SCRAM, MONGODB-X509 and
 * PLAIN; the module {@code onehop-auth} has the driver's other mechanisms. The caller sends the
 * commands, see {@link Commands}.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.wire.handshake;

import org.jspecify.annotations.NullMarked;
