/**
 * Classes that all packages of this module use: names of servers, and additions to Reactor.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.wire;

import org.jspecify.annotations.NullMarked;
