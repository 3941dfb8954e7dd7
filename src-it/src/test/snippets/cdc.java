// 1 in examples/mirror/src/main/java/com/example/Mirror.java
// 2 in examples/mirror/src/main/java/com/example/Mirror.java
