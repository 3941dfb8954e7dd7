/** Routes the clients of a Spring Boot application that has this library on its class path. */
@NullMarked
package dev.onehop.spring.boot;

import org.jspecify.annotations.NullMarked;
