/**
 * The mechanisms GSSAPI, MONGODB-AWS and MONGODB-OIDC for the connections of the other modules. A
 * {@link java.util.ServiceLoader} finds the mechanisms.
 *
 * <p>The package is not part of the API: an application needs this module only at run time.
 */
@NullMarked
package dev.onehop.auth;

import org.jspecify.annotations.NullMarked;
