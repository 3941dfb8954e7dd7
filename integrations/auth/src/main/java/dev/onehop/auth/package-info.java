/**
 * GSSAPI, MONGODB-AWS and MONGODB-OIDC for the connections of the other modules; found by {@link
 * java.util.ServiceLoader}.
 *
 * <p>Not part of the API: an application needs this module at run time only.
 */
@NullMarked
package dev.onehop.auth;

import org.jspecify.annotations.NullMarked;
