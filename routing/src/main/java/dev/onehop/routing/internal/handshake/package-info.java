/**
 * What a connection to a server begins with: hello, and authentication by every mechanism of the
 * official driver. How commands are sent is the caller's matter: see {@link Commands}.
 */
@NullMarked
package dev.onehop.routing.internal.handshake;

import org.jspecify.annotations.NullMarked;
