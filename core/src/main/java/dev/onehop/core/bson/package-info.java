/**
 * BSON values in the order and with the hashes of the server: a byte encoding that sorts like the
 * server, and the hash function of hashed indexes.
 */
@NullMarked
package dev.onehop.core.bson;

import org.jspecify.annotations.NullMarked;
