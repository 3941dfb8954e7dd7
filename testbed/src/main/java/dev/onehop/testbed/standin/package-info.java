/**
 * The stand-in router: replaces a mongos in the testbed if no mongos binary is available. It is for
 * measurements and tests only, and all its reports name it as a stand-in.
 */
@NullMarked
package dev.onehop.testbed.standin;

import org.jspecify.annotations.NullMarked;
