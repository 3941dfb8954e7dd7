/** Tests of the YCSB bindings that need no server. */
@NullMarked
package dev.onehop.ycsb;

import org.jspecify.annotations.NullMarked;
