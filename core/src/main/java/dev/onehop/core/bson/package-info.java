/**
 * BSON values as the server orders and hashes them: a byte encoding that sorts as the server sorts,
 * and the function behind hashed indexes.
 */
@NullMarked
package dev.onehop.core.bson;

import org.jspecify.annotations.NullMarked;
