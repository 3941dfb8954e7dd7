/**
 * What all of this module needs: the names of servers, and what Reactor does not bring.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.wire;

import org.jspecify.annotations.NullMarked;
