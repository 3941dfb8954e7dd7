/**
 * The stand-in router: replaces a mongos in the testbed if no mongos binary is available. It is
 * only for measurements and tests. In all its reports it names itself a stand-in.
 */
@NullMarked
package dev.onehop.testbed.standin;

import org.jspecify.annotations.NullMarked;
